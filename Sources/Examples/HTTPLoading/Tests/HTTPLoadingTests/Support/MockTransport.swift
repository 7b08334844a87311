//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import HTTPLoading
import ThreadSafeValue

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Carries requests nowhere: a test answers them.
final class MockTransport: Transport, @unchecked Sendable {
    let report: TransportReport
    private let made = Protected<[MockTask]>([])
    private let whileMaking: @Sendable () -> Void
    // Guarded by nothing: tasks are made by one thread at a time, or their identifiers are not unique.
    private var lastIdentifier = 0

    init(_ report: @escaping TransportReport, whileMaking: @escaping @Sendable () -> Void = {}) {
        self.report = report
        self.whileMaking = whileMaking
    }

    func makeTask(for request: URLRequest) -> any TransportTask {
        let identifier = lastIdentifier + 1
        whileMaking()
        lastIdentifier = identifier
        let task = MockTask(identifier: identifier)
        made.append(task)
        return task
    }

    var tasks: [MockTask] { made.wrappedValue }

    /// Reports a whole response.
    func answer(_ identifier: Int, status: Int = 200, headers: [String: String] = [:], body: String = "") {
        report(identifier, .head(status: status, headers: headers))
        for byte in body.utf8 { report(identifier, .data(Data([byte]))) }
        report(identifier, .completed(nil))
    }
}

/// Remembers what it was told to do.
final class MockTask: TransportTask {
    enum Call: Sendable { case resume, suspend, cancel }

    let identifier: Int
    private let log = Protected<[Call]>([])

    init(identifier: Int) {
        self.identifier = identifier
    }

    var calls: [Call] { log.wrappedValue }
    func resume() { log.append(.resume) }
    func suspend() { log.append(.suspend) }
    func cancel() { log.append(.cancel) }
}

/// A session on a mock transport, and what its requests went through.
struct MockSession: Sendable {
    let session: Session
    let transport: MockTransport
    let events: Protected<[(request: Request, state: RequestState)]>

    init(isRecording: Bool = true, whileMaking: @escaping @Sendable () -> Void = {}) {
        let events = Protected<[(request: Request, state: RequestState)]>([])
        let transport = Protected<MockTransport?>(nil)
        session = Session { report in
            let mock = MockTransport(report, whileMaking: whileMaking)
            transport.write(mock)
            return mock
        } observer: { request, state in
            if isRecording { events.append((request, state)) }
        }
        self.events = events
        self.transport = transport.wrappedValue!
    }

    func events(of request: Request) -> [RequestState] {
        events.read { events in events.filter { $0.request === request }.map(\.state) }
    }

    /// A request that has its task.
    func requestWithTask() -> (request: Request, task: MockTask) {
        let request = session.request(anyRequest)
        let isSettled = settle()
        precondition(isSettled)
        let task = transport.tasks.last { session[$0.identifier] === request }!
        return (request, task)
    }

    /// Waits until all that has happened so far has had its effects.
    func settle() -> Bool {
        // The session's queue is serial: when this request is answered, whatever was there before is done.
        let answered = DispatchGroup()
        session.request(anyRequest).response(on: .global(), in: answered) { _ in }.cancel()
        return answered.isEmptySoon()
    }
}

let anyRequest = URLRequest(url: URL(string: "http://127.0.0.1/")!)
