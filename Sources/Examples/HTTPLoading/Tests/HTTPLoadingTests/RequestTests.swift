//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import HTTPLoading
import Testing
import ThreadSafeValue

@Suite("Request with protected state")
struct RequestTests {
    @Test("A first state may go anywhere, a final one nowhere, resumed and suspended to each other, none to itself")
    func transitions() {
        let states: [RequestState] = [.initialized, .resumed, .suspended, .cancelled, .finished]
        let allowed: [RequestState: Set<RequestState>] = [
            .initialized: [.resumed, .suspended, .cancelled, .finished],
            .resumed: [.suspended, .cancelled, .finished],
            .suspended: [.resumed, .cancelled, .finished],
        ]
        for state in states {
            for next in states {
                let isAllowed = allowed[state, default: []].contains(next)
                #expect(state.canTransition(to: next) == isAllowed, "\(state), \(next)")
            }
        }
    }

    @Test("1,000 rounds of racing resume, suspend, cancel fire each event at most once, and nothing follows a cancel")
    func race() {
        let mock = MockSession()
        let requests = (0..<1_000).map { _ in
            let request = mock.session.request(anyRequest)
            onThreads(3) { index in
                switch index {
                case 0: request.resume()
                case 1: request.suspend()
                default: request.cancel()
                }
            }
            return request
        }
        #expect(mock.settle())
        var histories: [ObjectIdentifier: [RequestState]] = [:]
        for (request, state) in mock.events.wrappedValue {
            histories[ObjectIdentifier(request), default: []].append(state)
        }
        for request in requests {
            let history = histories[ObjectIdentifier(request), default: []]
            #expect(Set(history).count == history.count, "\(history)")
            #expect(history.last == .cancelled)
            #expect(request.state == .cancelled)
        }
        for task in mock.transport.tasks {
            #expect(task.calls.last == .cancel)
            #expect(task.calls.count { $0 == .resume } <= 1)
            #expect(task.calls.count { $0 == .suspend } <= 1)
            #expect(task.calls.count { $0 == .cancel } == 1)
        }
    }

    @Test("Nothing follows a cancel")
    func afterCancel() {
        let mock = MockSession()
        let (request, task) = mock.requestWithTask()
        request.resume().suspend().cancel().resume().suspend().cancel()
        mock.transport.answer(task.identifier)
        #expect(mock.settle())
        #expect(mock.events(of: request) == [.resumed, .suspended, .cancelled])
        #expect(task.calls == [.resume, .suspend, .cancel])
    }

    @Test("A task created after the cancel is cancelled")
    func lateTaskOfCancelled() {
        // The session cannot make the task before the door is open.
        let door = Door()
        let mock = MockSession { #expect(door.isOpenSoon()) }
        let request = mock.session.request(anyRequest).resume().cancel()
        #expect(request.state == .cancelled)
        door.open()
        #expect(mock.settle())
        #expect(mock.transport.tasks.first?.calls == [.cancel])
        // It is forgotten in the line of its handlers, and this one comes after that.
        let handled = DispatchGroup()
        request.response(on: .global(), in: handled) { _ in }
        #expect(handled.isEmptySoon())
        #expect(mock.session[1] == nil)
    }

    @Test("A task created late takes the current state", arguments: [RequestState.initialized, .resumed, .suspended])
    func lateTask(state: RequestState) {
        let door = Door()
        let mock = MockSession { #expect(door.isOpenSoon()) }
        let request = mock.session.request(anyRequest)
        switch state {
        case .resumed: request.resume()
        case .suspended: request.resume().suspend()
        default: break
        }
        door.open()
        #expect(mock.settle())
        // It is born suspended.
        #expect(mock.transport.tasks.first?.calls == (state == .resumed ? [.resume] : []))
        #expect(request.state == state)
    }

    @Test("Steps reach the task in the order in which they were taken")
    func orderOfSteps() {
        let mock = MockSession()
        for _ in 0..<200 {
            let (request, task) = mock.requestWithTask()
            onThreads(4) { index in
                for _ in 0..<5 { _ = index.isMultiple(of: 2) ? request.resume() : request.suspend() }
            }
            #expect(mock.settle())
            let history = mock.events(of: request)
            // Each event differs from the one before, and the task was told the same. The first suspension is none.
            #expect(zip(history, history.dropFirst()).allSatisfy { $0 != $1 })
            let expected = history.first == .suspended ? history.dropFirst() : history[...]
            #expect(task.calls == expected.map { $0 == .resumed ? .resume : .suspend })
            #expect(request.state == history.last)
            mock.events.write([])
        }
    }

    @Test("Of finishing and cancelling at once one wins, and there is one answer")
    func finishOrCancel() {
        let mock = MockSession()
        for _ in 0..<200 {
            let (request, task) = mock.requestWithTask()
            let (answers, answered) = (Protected<[HTTPResult]>([]), DispatchGroup())
            request.resume().response(on: .global(), in: answered) { answers.append($0) }
            onThreads(2) { index in
                if index == 0 { request.cancel() } else { mock.transport.answer(task.identifier) }
            }
            #expect(answered.isEmptySoon())
            #expect(mock.settle())
            #expect(answers.count == 1)
            let isFinished = request.state == .finished
            #expect(mock.events(of: request).filter { $0 == .finished || $0 == .cancelled }.count == 1)
            #expect((try? answers[0].get().status) == (isFinished ? 200 : nil))
            mock.events.write([])
        }
    }

    @Test("Events are told outside the critical section: a handler may take the next step")
    func stepInHandler() {
        let mock = MockSession()
        let (request, task) = mock.requestWithTask()
        request.onChange { request, state in
            if state == .resumed { request.suspend() }
            if state == .suspended { request.cancel() }
        }
        let answered = DispatchGroup()
        request.response(on: .global(), in: answered) { _ in }.resume()
        #expect(answered.isEmptySoon())
        #expect(mock.events(of: request) == [.resumed, .suspended, .cancelled])
        #expect(task.calls == [.resume, .suspend, .cancel])
    }

    @Test("A request knows why it has no response, and how long it took")
    func errorAndTime() {
        let mock = MockSession()
        let (request, task) = mock.requestWithTask()
        #expect(request.seconds == 0)
        request.resume()
        mock.transport.report(task.identifier, .completed(nil))
        #expect(request.state == .finished)
        #expect(request.error?.description == HTTPError.unanswered.description)
        let seconds = request.seconds
        #expect(seconds > 0)
        #expect(request.seconds == seconds)
    }
}
