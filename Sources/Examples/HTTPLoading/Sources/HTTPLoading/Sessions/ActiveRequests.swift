//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// The requests under way: those that have tasks, by the identifiers of these, and those that have handlers to call.
///
/// Copies share both dictionaries.
struct ActiveRequests: Sendable {
    @Protected private var requests: [Int: Request] = [:]
    @Protected private var handled: [ObjectIdentifier: (request: Request, handlers: Int)] = [:]

    subscript(identifier: Int) -> Request? {
        get { requests[identifier] }
        // With `set`, a change in place would be two accesses.
        nonmutating _modify { yield &requests[identifier] }
    }

    /// Each of them once.
    var all: [Request] {
        let (requests, handled) = withLocked($requests, $handled) { ($0.values, $1.values) }
        let pairs = (requests + handled.map(\.request)).map { (ObjectIdentifier($0), $0) }
        return Dictionary(pairs) { first, _ in first }.map(\.value)
    }
}

extension ActiveRequests {
    /// Notes that a request has one more handler to call.
    func beginHandling(_ request: Request) {
        $handled.write { $0[ObjectIdentifier(request), default: (request, 0)].handlers += 1 }
    }

    /// Notes that a handler of a request has run.
    func endHandling(_ request: Request) {
        // What is removed goes away after the lock.
        _ = $handled.write { handled -> Request? in
            let id = ObjectIdentifier(request)
            handled[id]?.handlers -= 1
            return handled[id]?.handlers == 0 ? handled.removeValue(forKey: id)?.request : nil
        }
    }
}
