//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Carries requests over the network.
///
/// All that is done to a task is done on the serial queue on which the URL session reports about it. On Linux, a task
/// must not be cancelled or resumed in the moment in which it ends: the process would crash.
public final class URLSessionTransport: Transport {
    private let session: URLSession

    /// Opens a URL session.
    ///
    /// It has no cache: on Linux, looking into that makes cancelling unsafe again.
    public init(_ report: @escaping TransportReport, configuration: URLSessionConfiguration = .ephemeral) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: Delegate(report: report), delegateQueue: queue)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Makes a data task.
    public func makeTask(for request: URLRequest) -> any TransportTask {
        NetworkTask(task: session.dataTask(with: request), queue: session.delegateQueue)
    }
}

private struct NetworkTask: TransportTask {
    let task: URLSessionTask
    let queue: OperationQueue

    var identifier: Int { task.taskIdentifier }
    func resume() { queue.addOperation { [task] in task.resume() } }
    func suspend() { queue.addOperation { [task] in task.suspend() } }
    func cancel() { queue.addOperation { [task] in task.cancel() } }
}

/// Passes on what the URL session tells.
private final class Delegate: NSObject, URLSessionDataDelegate {
    let report: TransportReport

    init(report: @escaping TransportReport) {
        self.report = report
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            var headers: [String: String] = [:]
            for case (let name as String, let value as String) in response.allHeaderFields {
                headers[name.lowercased()] = value
            }
            report(dataTask.taskIdentifier, .head(status: response.statusCode, headers: headers))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        report(dataTask.taskIdentifier, .data(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        report(task.taskIdentifier, .completed(error.map(HTTPError.init)))
    }
}
