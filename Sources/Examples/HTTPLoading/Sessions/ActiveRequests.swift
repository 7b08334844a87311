//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// The requests under way, by the identifiers of their tasks. Copies share one dictionary.
struct ActiveRequests: Sendable {
    @Protected private var requests: [Int: Request] = [:]

    subscript(identifier: Int) -> Request? {
        get { requests[identifier] }
        nonmutating set { requests[identifier] = newValue }
    }

    /// Each of them once.
    var all: [Request] {
        let requests = requests
        return Dictionary(requests.values.map { (ObjectIdentifier($0), $0) }) { first, _ in first }.map(\.value)
    }
}
