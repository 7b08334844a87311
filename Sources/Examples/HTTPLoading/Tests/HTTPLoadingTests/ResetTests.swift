//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import HTTPLoading
import Testing
import ThreadSafeValue

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Loader chain with reset")
struct ResetTests {
    @Test("100 concurrent resets reach downstream once, and all end with it")
    func resets() {
        let (mock, door, ended) = (MockLoader(), Door(), DispatchGroup())
        // The loader behind is slow: it is not done before all 100 have asked.
        let chain = ResetGuard(next: SlowLoader(door, next: mock))
        onThreads(100) { _ in
            ended.enter()
            chain.reset(on: .global()) {
                #expect(mock.resets == 1)
                ended.leave()
            }
        }
        door.open()
        #expect(ended.isEmptySoon())
        #expect(mock.resets == 1)
    }

    @Test("Resets never overlap downstream, however many ask for them again and again")
    func overlap() {
        let end = Exclusive()
        let (chain, ended) = (ResetGuard(next: end), DispatchGroup())
        onThreads(4) { _ in
            for _ in 0..<5_000 { chain.reset(with: ended) }
        }
        #expect(ended.isEmptySoon())
        #expect(end.resets.wrappedValue.overlaps == 0)
    }

    @Test("A load that has passed the guard, but not come to its end, is cancelled by the reset as well")
    func onTheWay() {
        let mock = MockSession()
        let (came, mayGoOn) = (Door(), Door())
        let end = URLSessionLoader(mock.session, completingOn: .global())
        let chain = ResetGuard(next: SlowPath(came, mayGoOn, next: end))
        let (results, ended) = (Protected<[String]>([]), Door())
        Thread { chain.load(request: anyRequest) { results.append($0.summary) } }.start()
        #expect(came.isOpenSoon())
        chain.reset(on: .global()) { ended.open() }
        // If the reset didn't wait for the load, it would now go down the chain, and find nothing to cancel.
        #expect(mock.settle())
        mayGoOn.open()
        #expect(ended.isOpenSoon())
        #expect(results.wrappedValue == ["cancelled"])
    }

    @Test("Loads fail while resetting, and work again afterwards")
    func loads() {
        let (mock, door, ended) = (MockLoader(), Door(), Door())
        let chain = ResetGuard(next: SlowLoader(door, next: mock))
        chain.reset(on: .global()) {
            mock.then { _, completion in completion(.success(HTTPResponse(status: 204))) }
            ended.open()
        }
        #expect(chain.result(of: anyRequest) == "refused: a reset is in progress")
        #expect(mock.requests.isEmpty)
        door.open()
        #expect(ended.isOpenSoon())
        #expect(chain.result(of: anyRequest) == "204")
    }

    @Test("Requests in flight at a reset are cancelled and answer before it ends, and the next ones work")
    func inFlight() {
        let mock = MockSession()
        let queue = DispatchQueue(label: "completions")
        let chain = ResetGuard(next: URLSessionLoader(mock.session, completingOn: queue))
        let (results, ended) = (Protected<[String]>([]), Door())
        for _ in 0..<20 { chain.load(request: anyRequest) { results.append($0.summary) } }
        #expect(mock.settle())
        let tasks = mock.transport.tasks.prefix(20)
        // Some are answered already, but their completions have not run.
        let door = Door()
        queue.async { #expect(door.isOpenSoon()) }
        for task in tasks.prefix(5) { mock.transport.answer(task.identifier) }
        chain.reset(on: queue) {
            #expect(results.count == 20)
            ended.open()
        }
        door.open()
        #expect(ended.isOpenSoon())
        #expect(results.wrappedValue.count { $0 == "200" } == 5)
        #expect(results.wrappedValue.count { $0 == "cancelled" } == 15)
        #expect(tasks.dropFirst(5).allSatisfy { $0.calls.last == .cancel })

        let (count, loaded) = (mock.transport.tasks.count, Door())
        chain.load(request: anyRequest) { result in
            #expect(result.summary == "200")
            loaded.open()
        }
        #expect(mock.settle())
        mock.transport.answer(mock.transport.tasks[count].identifier)
        #expect(loaded.isOpenSoon())
    }

    @Test("Of loads and a reset at once, each load is refused, cancelled or sent after: none is left over")
    func race() {
        for _ in 0..<200 {
            let mock = MockSession()
            let chain = ResetGuard(next: URLSessionLoader(mock.session, completingOn: .global()))
            let (results, ended) = (Protected<[String]>([]), Door())
            onThreads(4) { index in
                if index == 0 { return chain.reset(on: .global()) { ended.open() } }
                for _ in 0..<5 { chain.load(request: anyRequest) { results.append($0.summary) } }
            }
            #expect(ended.isOpenSoon())
            // What is under way now was sent after the reset; another reset answers it.
            chain.resetAndWait()
            #expect(results.count == 15)
            #expect(Set(results.wrappedValue).isSubset(of: ["cancelled", "refused: a reset is in progress"]))
        }
    }

    @Test("The completion of a reset fires once, after the slowest loader")
    func slowest() {
        let (mock, slow, slower) = (MockLoader(), Door(), Door())
        let chain = ResetGuard(next: SlowLoader(slow, next: SlowLoader(slower, next: mock)))
        let (fired, ended) = (Protected(0), Door())
        chain.reset(on: .global()) {
            fired.wrappedValue += 1
            ended.open()  // traps if it is opened twice
        }
        slow.open()
        // The guard still refuses, so the reset has not ended.
        #expect(chain.result(of: anyRequest) == "refused: a reset is in progress")
        #expect(fired.wrappedValue == 0)
        slower.open()
        #expect(ended.isOpenSoon())
        #expect(fired.wrappedValue == 1)
        #expect(mock.resets == 1)
    }
}

/// Takes its time to reset: until a door is open.
private final class SlowLoader: HTTPLoader {
    let nextLoader: (any HTTPLoader)?
    private let door: Door

    init(_ door: Door, next: any HTTPLoader) {
        self.door = door
        nextLoader = next
    }

    func reset(with group: DispatchGroup) {
        group.enter()
        Thread { [door] in
            #expect(door.isOpenSoon())
            group.leave()
        }.start()
        nextLoader?.reset(with: group)
    }
}

/// The end of a chain, which notices resets that overlap.
private final class Exclusive: HTTPLoader {
    var nextLoader: (any HTTPLoader)? { nil }
    let resets = Protected((running: 0, overlaps: 0))

    func reset(with group: DispatchGroup) {
        group.enter()
        resets.write { resets in
            if resets.running > 0 { resets.overlaps += 1 }
            resets.running += 1
        }
        DispatchQueue.global().async { [resets] in
            resets.running -= 1
            group.leave()
        }
    }
}

/// Takes its time to pass a request on: until a door is open.
private final class SlowPath: HTTPLoader {
    let nextLoader: (any HTTPLoader)?
    private let came: Door
    private let mayGoOn: Door

    init(_ came: Door, _ mayGoOn: Door, next: any HTTPLoader) {
        self.came = came
        self.mayGoOn = mayGoOn
        nextLoader = next
    }

    func load(request: URLRequest, completion: @escaping Completion) {
        came.open()
        #expect(mayGoOn.isOpenSoon())
        nextLoader?.load(request: request, completion: completion)
    }
}
