//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// A link of a chain of loaders: it changes a request or its result on the way, or answers it itself.
///
/// A chain is made from its end and never changes, so it needs no lock:
///
/// ```swift
/// let chain = ResetGuard(next: HeaderLoader(["Accept": "text/plain"], next: URLSessionLoader(session)))
/// ```
public protocol HTTPLoader: AnyObject, Sendable {
    /// Called once with the result of a load.
    typealias Completion = @Sendable (HTTPResult) -> Void

    /// The next link; requests go there, and results come back from there.
    var nextLoader: (any HTTPLoader)? { get }

    /// Loads a request. Without a method of its own, a loader leaves it to the next one.
    func load(request: URLRequest, completion: @escaping Completion)

    /// Goes back to how it was at first, and has the next loader do so.
    ///
    /// A loader that takes its time enters the group, and leaves it when it is done. Without a method of its own, it
    /// only passes the reset on.
    func reset(with group: DispatchGroup)
}

extension HTTPLoader {
    /// Leaves the request to the next loader.
    public func load(request: URLRequest, completion: @escaping Completion) {
        guard let nextLoader else { return completion(.failure(.endOfChain)) }
        nextLoader.load(request: request, completion: completion)
    }

    /// Passes the reset on.
    public func reset(with group: DispatchGroup) {
        nextLoader?.reset(with: group)
    }

    /// Resets the chain from here on.
    ///
    /// - Parameters:
    ///   - queue: Where the handler runs.
    ///   - completionHandler: Called once, when the slowest loader is done.
    public func reset(on queue: DispatchQueue = .main, completionHandler: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        reset(with: group)
        group.notify(queue: queue, execute: completionHandler)
    }
}
