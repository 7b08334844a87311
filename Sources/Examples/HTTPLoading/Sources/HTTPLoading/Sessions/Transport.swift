//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What carries requests: a URL session, or a mock.
public protocol Transport: Sendable {
    /// Makes a task that does not run yet. Called by one thread at a time.
    func makeTask(for request: URLRequest) -> any TransportTask
}

/// A request's journey, as a URL session task is one.
public protocol TransportTask: Sendable {
    /// No other task of the transport has the same.
    var identifier: Int { get }
    /// Starts it, or goes on.
    func resume()
    /// Pauses it.
    func suspend()
    /// Gives it up.
    func cancel()
}

/// What a transport reports about a task.
public enum TransportEvent: Sendable {
    /// The status and the header fields have come, names in lower case.
    case head(status: Int, headers: [String: String])
    /// A part of the body has come.
    case data(Data)
    /// No more will come.
    case completed(HTTPError?)
}

/// Takes a transport's reports, on any thread: the identifier of a task, and what happened.
public typealias TransportReport = @Sendable (_ identifier: Int, _ event: TransportEvent) -> Void
