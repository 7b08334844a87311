//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import HTTPLoading
import Testing
import ThreadSafeValue

@Suite("Session")
struct SessionTests {
    @Test("Identifiers are unique under concurrent creation, and lead to the requests")
    func identifiers() {
        // A second thread that makes a task at the same time would come in between, and get the same identifier.
        let mock = MockSession { sched_yield() }
        let requests = Protected<[Request]>([])
        onThreads(8) { _ in
            for _ in 0..<100 { requests.append(mock.session.request(anyRequest)) }
        }
        #expect(mock.settle())
        let identifiers = Set(mock.transport.tasks.map(\.identifier))
        #expect(identifiers.count == 801)  // one is of `settle`
        let found = Set(identifiers.compactMap { mock.session[$0].map(ObjectIdentifier.init) })
        let areFound = requests.wrappedValue.allSatisfy { found.contains(ObjectIdentifier($0)) }
        #expect(areFound)
    }

    @Test("Response bodies are processed on a concurrent queue")
    func processing() {
        let mock = MockSession()
        // Each processing waits for the other one, so they must run at once.
        let (both, done) = (DispatchGroup(), DispatchGroup())
        for _ in 0..<2 {
            both.enter()
            let (request, task) = mock.requestWithTask()
            request.response(on: .global(), in: done) { response in
                both.leave()
                #expect(both.isEmptySoon())
                return String(decoding: response.body, as: UTF8.self)
            } completion: { result in
                #expect((try? result.get()) == "a body")
            }
            request.resume()
            mock.transport.answer(task.identifier, body: "a body")
        }
        #expect(done.isEmptySoon())
    }

    @Test("A completion runs on the queue that the caller chose")
    func chosenQueue() {
        let mock = MockSession()
        let (queue, key) = (DispatchQueue(label: "chosen"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let (request, task) = mock.requestWithTask()
        let done = DispatchGroup()
        request.response(on: queue, in: done) { _ in #expect(DispatchQueue.getSpecific(key: key) == true) }
        mock.transport.answer(task.identifier)
        #expect(done.isEmptySoon())
    }

    @Test("A completion runs on the main queue by default")
    func mainQueue() {
        let mock = MockSession()
        // The main queue is not always on the main thread.
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let (request, task) = mock.requestWithTask()
        let done = DispatchGroup()
        request.response(in: done) { _ in #expect(DispatchQueue.getSpecific(key: key) == true) }
        mock.transport.answer(task.identifier)
        #expect(done.isEmptySoon())
    }

    @Test("The group that the caller gave notifies after all completions")
    func group() {
        let mock = MockSession()
        let (group, completed) = (DispatchGroup(), Protected(0))
        let requests = (0..<20).map { _ in mock.requestWithTask() }
        for (request, _) in requests {
            request.response(on: .global(), in: group) { _ in completed.wrappedValue += 1 }
        }
        let (notified, seen) = (Door(), Protected<Int?>(nil))
        group.notify(queue: .global()) {
            seen.write(completed.wrappedValue)
            notified.open()
        }
        // All but one are answered; the group must wait for the last.
        for (_, task) in requests.dropLast() { mock.transport.answer(task.identifier) }
        #expect(mock.settle())
        #expect(seen.wrappedValue == nil)
        requests.last?.request.cancel()
        #expect(notified.isOpenSoon())
        #expect(seen.wrappedValue == 20)
    }

    @Test(
        "The completion of cancelAll comes after the handlers of a request that was cancelled before its task was made",
        arguments: [false, true]
    )
    func cancelledEarly(isHandledLate: Bool) {
        let (mayMake, mayEnd, handled, notified) = (Door(), Door(), Door(), Door())
        let log = Protected<[String]>([])
        let mock = MockSession { #expect(mayMake.isOpenSoon()) }
        let handle: @Sendable (HTTPResult) -> Void = { result in
            #expect(mayEnd.isOpenSoon())
            log.append("handled")
            handled.open()
        }
        let request = mock.session.request(anyRequest)
        if isHandledLate {
            // It has its task by then, and has been let go.
            mayMake.open()
            request.cancel()
            #expect(mock.settle())
            request.response(on: .global(), completion: handle)
        } else {
            request.response(on: .global(), completion: handle).cancel()
            mayMake.open()
            #expect(mock.settle())
        }
        mock.session.cancelAll {
            log.append("all cancelled")
            notified.open()
        }
        // What the session did too early is done now.
        for _ in 0..<3 { #expect(mock.settle()) }
        mayEnd.open()
        #expect(handled.isOpenSoon())
        #expect(notified.isOpenSoon())
        #expect(log.wrappedValue == ["handled", "all cancelled"])
    }

    @Test("An error skips processing")
    func errors() {
        let mock = MockSession()
        let (request, task) = mock.requestWithTask()
        let (done, results) = (DispatchGroup(), Protected<[String]>([]))
        request.response(on: .global(), in: done) { _ in
            Issue.record("Processed")
            return 1
        } completion: { result in
            if case .failure(let error) = result { results.append(error.description) }
        }
        mock.transport.report(task.identifier, .head(status: 200, headers: [:]))
        mock.transport.report(task.identifier, .completed(.network(URLError(.cannotConnectToHost))))
        #expect(done.isEmptySoon())
        #expect(results.wrappedValue == ["no server answers there"])
        #expect(request.state == .finished)
    }

    @Test("An error in processing is the completion's result")
    func processingErrors() {
        struct Misunderstood: Error {}
        let mock = MockSession()
        let (request, task) = mock.requestWithTask()
        let (done, isMisunderstood) = (DispatchGroup(), Protected(false))
        request.response(on: .global(), in: done) { _ in
            throw Misunderstood()
        } completion: { (result: Result<Int, HTTPError>) in
            if case .failure(.processing(is Misunderstood)) = result { isMisunderstood.write(true) }
        }
        mock.transport.answer(task.identifier)
        #expect(done.isEmptySoon())
        #expect(isMisunderstood.wrappedValue)
    }

    @Test("A request lets go of itself when its answer is handled, and not before")
    func lifetime() {
        let mock = MockSession(isRecording: false)
        let (gone, handled, mayEnd) = (Door(), Protected(false), Door())
        let identifier: Int
        do {
            let (request, task) = mock.requestWithTask()
            identifier = task.identifier
            // The request keeps this handler for as long as it lives, and the answer's handler keeps the request.
            let witness = Witness(gone)
            request.onChange { _, _ in _ = witness }
            request.response(on: .global()) { _ in
                #expect(mayEnd.isOpenSoon())
                #expect(request.state == .finished)
                handled.write(true)
            }
        }
        mock.transport.answer(identifier)
        #expect(mock.settle())
        #expect(mock.session[identifier] != nil)
        mayEnd.open()
        #expect(gone.isOpenSoon())
        #expect(handled.wrappedValue)
        #expect(mock.session[identifier] == nil)
    }

    @Test("When the session goes away its requests are cancelled and answered")
    func end() {
        let (answered, results) = (DispatchGroup(), Protected<[String]>([]))
        do {
            let session = Session { MockTransport($0) }
            for _ in 0..<10 {
                session.request(anyRequest).resume().response(on: .global(), in: answered) { result in
                    if case .failure(let error) = result { results.append(error.description) }
                }
            }
        }
        #expect(answered.isEmptySoon())
        #expect(results.wrappedValue == Array(repeating: "cancelled", count: 10))
    }
}

/// Opens a door when it goes away.
private final class Witness: Sendable {
    private let door: Door

    init(_ door: Door) {
        self.door = door
    }

    deinit {
        door.open()
    }
}
