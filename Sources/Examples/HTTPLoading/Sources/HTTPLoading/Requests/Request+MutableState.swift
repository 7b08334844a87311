//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

extension Request {
    /// All that changes about a request, and the rules by which it does.
    ///
    /// It knows nothing of locks or queues. Each method is one critical section of the request. It decides, and writes
    /// down what is to be done about it; that is done later, outside the lock, in the order in which it was decided.
    struct MutableState: Sendable {
        private(set) var state = RequestState.initialized
        private(set) var tasks: [any TransportTask] = []
        private(set) var error: HTTPError?
        private var handlers: [Handler] = []
        private var effects: [Effect] = []
        private var times: (start: DispatchTime?, end: DispatchTime?)

        /// What has arrived of the response.
        var head: (status: Int, headers: [String: String])?
        var body = Data()
    }

    /// Something to do after a critical section.
    enum Effect: Sendable {
        case resume(any TransportTask)
        case suspend(any TransportTask)
        case cancel(any TransportTask)
        case tell([Handler], RequestState)
        case answer(HTTPResult)
        case letGo
    }
}

extension Request.MutableState {
    mutating func resume() {
        guard enter(.resumed) else { return }
        effects += tasks.map(Request.Effect.resume)
    }

    mutating func suspend() {
        // Tasks are born suspended, and on some systems every suspension takes a resumption of its own to undo.
        let wasRunning = state == .resumed
        guard enter(.suspended) else { return }
        if wasRunning { effects += tasks.map(Request.Effect.suspend) }
    }

    mutating func cancel() {
        guard enter(.cancelled) else { return }
        error = .cancelled
        effects += tasks.map(Request.Effect.cancel) + [.answer(.failure(.cancelled))]
    }

    mutating func finish(_ error: HTTPError?) {
        guard enter(.finished) else { return }
        self.error = error ?? (head == nil ? .unanswered : nil)
        effects.append(.answer(answer))
    }

    /// Takes in a new task, which becomes what the request is by now.
    mutating func add(_ task: any TransportTask) {
        tasks.append(task)
        switch state {
        case .initialized, .suspended: break
        case .resumed: effects.append(.resume(task))
        // The answer is out, so this task's events interest nobody.
        case .cancelled, .finished: effects += [.cancel(task), .letGo]
        }
    }

    mutating func add(_ handler: @escaping Request.Handler) {
        handlers.append(handler)
    }

    /// Hands over what is to be done, once.
    mutating func takeEffects() -> [Request.Effect] {
        defer { effects = [] }
        return effects
    }
}

extension Request.MutableState {
    /// From the first start to the end, or until now.
    var seconds: Double {
        guard let start = times.start else { return 0 }
        return Double((times.end ?? .now()).uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
    }

    private var answer: HTTPResult {
        if let error { return .failure(error) }
        guard let head else { return .failure(.unanswered) }
        return .success(HTTPResponse(status: head.status, headers: head.headers, body: body))
    }

    private mutating func enter(_ next: RequestState) -> Bool {
        guard state.canTransition(to: next) else { return false }
        state = next
        if next == .resumed, times.start == nil { times.start = .now() }
        if next.isFinal { times.end = .now() }
        effects.append(.tell(handlers, next))
        return true
    }
}
