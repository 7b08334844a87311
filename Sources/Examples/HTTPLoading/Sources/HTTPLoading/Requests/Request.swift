//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// One request on its way: started, paused and given up from any thread.
///
/// Nothing about it is changed but in `mutableState`, one critical section a step. What follows from a step (a task is
/// cancelled, a handler is called, an answer goes out) happens on the session's serial queue, in the order of the
/// steps: each step writes it down under the lock, and the queue takes it from there.
public final class Request: Sendable {
    /// Told a state that a request has come to.
    public typealias Handler = @Sendable (Request, RequestState) -> Void

    /// What is asked for.
    public let urlRequest: URLRequest

    // A wrapper would be a mutable stored property, which a `Sendable` class may not have; its handle may be a `let`.
    private let mutableState = Protected(MutableState())
    private let answers: AnswerLine<HTTPResult>
    private let active: ActiveRequests
    private let work: DispatchQueue

    init(_ urlRequest: URLRequest, active: ActiveRequests, work: DispatchQueue, processing: DispatchQueue) {
        self.urlRequest = urlRequest
        self.active = active
        self.work = work
        answers = AnswerLine(on: processing)
    }
}

extension Request {
    /// Where it stands now.
    public var state: RequestState { mutableState.state }

    /// Why it has no response, once it has ended.
    public var error: HTTPError? { mutableState.error }

    /// The status of the response, as soon as that begins to come.
    public var status: Int? { mutableState.head?.status }

    /// How much of the response's body has come.
    public var bytesReceived: Int { mutableState.body.count }

    /// From its start to its end, or until now.
    public var seconds: Double { mutableState.seconds }

    /// Starts it, or goes on.
    @discardableResult
    public func resume() -> Request { change { $0.resume() } }

    /// Pauses it.
    @discardableResult
    public func suspend() -> Request { change { $0.suspend() } }

    /// Gives it up; it is answered with `HTTPError.cancelled` at once.
    @discardableResult
    public func cancel() -> Request { change { $0.cancel() } }

    /// Adds a handler that is told every state that the request comes to from now on, in order, on the session's queue.
    @discardableResult
    public func onChange(_ handler: @escaping Handler) -> Request {
        mutableState.write { $0.add(handler) }
        return self
    }

    /// Calls a handler with the answer, when it is there and those before it are done; called by `response`.
    func whenAnswered(_ handler: @escaping AnswerLine<HTTPResult>.Handler) {
        active.beginHandling(self)
        answers.wait { answer, done in
            handler(answer) {
                self.active.endHandling(self)
                done()
            }
        }
    }
}

// What the session tells it.
extension Request {
    func didCreate(_ task: any TransportTask) {
        active[task.identifier] = self
        change { $0.add(task) }
    }

    func receive(_ event: TransportEvent) {
        switch event {
        case .head(let status, let headers): mutableState.head = (status, headers)
        case .data(let data): mutableState.body.append(data)  // under the lock, in place
        case .completed(let error): change { $0.finish(error) }
        }
    }
}

extension Request {
    /// One step.
    @discardableResult
    private func change(_ step: (inout MutableState) -> Void) -> Request {
        mutableState.write(step)
        work.async { self.carryOut() }
        return self
    }

    private func carryOut() {
        for effect in mutableState.write({ $0.takeEffects() }) {
            switch effect {
            case .resume(let task): task.resume()
            case .suspend(let task): task.suspend()
            case .cancel(let task): task.cancel()
            case .tell(let handlers, let state): for handler in handlers { handler(self, state) }
            case .answer(let result):
                answers.fulfil(result)
                letGo()
            case .letGo: letGo()
            }
        }
    }

    /// Forgets the request once the handlers are done that wait already: only its owner and late handlers need it then.
    private func letGo() {
        whenAnswered { _, done in
            for task in self.mutableState.tasks { self.active[task.identifier] = nil }
            done()
        }
    }
}
