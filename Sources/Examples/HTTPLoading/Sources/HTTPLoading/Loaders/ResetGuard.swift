//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch
import ThreadSafeValue

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Lets nothing through while the loaders behind it are being reset.
///
/// A reset that comes meanwhile starts nothing: it ends with the one under way.
public final class ResetGuard: HTTPLoader {
    /// The first loader that it guards.
    public let nextLoader: (any HTTPLoader)?

    /// Those who wait for the reset under way: there is one while this is not empty.
    private let waiting = Protected<[DispatchGroup]>([])
    /// Loads that have passed, and are on their way to the end of the chain.
    private let passing = DispatchGroup()

    /// Guards a chain.
    public init(next: any HTTPLoader) {
        nextLoader = next
    }
}

extension ResetGuard {
    /// Loads a request, or fails with `HTTPError.resetInProgress`.
    public func load(request: URLRequest, completion: @escaping Completion) {
        // Asking whether there is a reset and being counted are one step, so the next reset waits for this load.
        let mayPass = waiting.read { waiting in
            if waiting.isEmpty { passing.enter() }
            return waiting.isEmpty
        }
        guard mayPass else { return completion(.failure(.resetInProgress)) }
        nextLoader?.load(request: request, completion: completion)
        passing.leave()
    }

    /// Resets the chain behind, unless that is being done.
    public func reset(with group: DispatchGroup) {
        group.enter()
        // Asking whether there is a reset and being one are one step.
        let isFirst = waiting.write { waiting in
            waiting.append(group)
            return waiting.count == 1
        }
        guard isFirst else { return }
        // A load that passed before is with the loader that is to cancel it when the reset gets there.
        passing.notify(queue: .global()) { [self] in
            let loaders = DispatchGroup()
            nextLoader?.reset(with: loaders)
            loaders.notify(queue: .global()) { self.endReset() }
        }
    }

    private func endReset() {
        let groups = waiting.write { waiting in
            defer { waiting = [] }
            return waiting
        }
        for group in groups { group.leave() }
    }
}
