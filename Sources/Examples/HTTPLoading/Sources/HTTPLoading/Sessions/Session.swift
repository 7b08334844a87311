//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Makes requests, and knows those that are under way.
///
/// When it goes away, the requests that it has made are cancelled.
public final class Session: Sendable {
    private let transport: any Transport
    private let active = ActiveRequests()
    private let observer: Request.Handler?
    /// Serial: tasks are made here, and what follows from the steps of requests is done here.
    private let work = DispatchQueue(label: "HTTPLoading.work")
    /// Concurrent: handlers of responses run here, those of one request one at a time.
    private let processing = DispatchQueue(label: "HTTPLoading.processing", attributes: .concurrent)

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - connect: Makes the transport, which tells the closure that it gets what happens to its tasks.
    ///   - observer: Added to every request before it can change; told all that happens, on the session's serial queue.
    public init(
        connect: (@escaping TransportReport) -> any Transport = { URLSessionTransport($0) },
        observer: Request.Handler? = nil
    ) {
        self.observer = observer
        transport = connect { [active] identifier, event in active[identifier]?.receive(event) }
    }

    deinit {
        // Behind the tasks that are still to be made.
        work.async { [active, transport] in
            withExtendedLifetime(transport) {
                for request in active.all { request.cancel() }
            }
        }
    }
}

extension Session {
    /// Makes a request, which is to be resumed; its task is made soon.
    public func request(_ urlRequest: URLRequest) -> Request {
        let request = Request(urlRequest, active: active, work: work, processing: processing)
        if let observer { request.onChange(observer) }
        work.async { [transport] in
            request.didCreate(transport.makeTask(for: urlRequest))
        }
        return request
    }

    /// The request under way that has a task of this identifier.
    public subscript(identifier: Int) -> Request? {
        active[identifier]
    }

    /// Cancels the requests made so far.
    ///
    /// - Parameter completion: Called when each of them is answered, and the handlers of its response have run.
    public func cancelAll(completion: @escaping @Sendable () -> Void) {
        // Their tasks are made on the same queue, so all of them are active when this runs.
        work.async { [active, processing] in
            let handled = DispatchGroup()
            for request in active.all {
                request.cancel().response(on: processing, in: handled) { _ in }
            }
            handled.notify(queue: processing, execute: completion)
        }
    }
}
