//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// The end of a chain: sends requests through a session.
public final class URLSessionLoader: HTTPLoader {
    /// There is none.
    public var nextLoader: (any HTTPLoader)? { nil }

    private let session: Session
    private let queue: DispatchQueue

    /// Sends requests through a session that is its own.
    ///
    /// - Parameters:
    ///   - session: Has no other requests: a reset cancels all of them.
    ///   - queue: Where completions of loads run.
    public init(_ session: Session, completingOn queue: DispatchQueue = .main) {
        self.session = session
        self.queue = queue
    }
}

extension URLSessionLoader {
    /// Sends the request.
    public func load(request: URLRequest, completion: @escaping Completion) {
        session.request(request).response(on: queue, completion: completion).resume()
    }

    /// Cancels all requests, and ends when the completions of their loads have returned.
    public func reset(with group: DispatchGroup) {
        group.enter()
        session.cancelAll { group.leave() }
    }
}
