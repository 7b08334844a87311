//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Protected: where the wrapper may stand")
struct PropertyWrapperTests {
    @Test("A let in a final Sendable class")
    func inFinalClass() {
        let session = Session()
        onThreads(4) { _ in
            for _ in 0..<1_000 { session.state.total += 1 }
        }
        #expect(session.state.total == 4_000)
    }

    @Test("A Sendable struct of wrapped properties, held by let in a final Sendable class")
    func inStructOfWrappers() {
        let account = Account()
        onThreads(4) { _ in
            for _ in 0..<1_000 {
                account.state.balance += 1
                account.state.log.append(1)
            }
        }
        #expect(account.state.balance == 4_000)
        #expect(account.state.log.count == 4_000)
    }

    @Test("A wrapped property in an actor, which code outside it may use through the handle")
    func inActor() async {
        let counter = Counter()
        let handle = await counter.handle
        onThreads(2) { _ in
            for _ in 0..<1_000 { handle.wrappedValue += 1 }
        }
        await counter.add(5)
        #expect(await counter.count == 2_005)
    }

    @Test("A static wrapped property")
    func inStatic() {
        onThreads(4) { _ in
            for _ in 0..<1_000 { Session.opened.wrappedValue += 1 }
        }
        #expect(Session.opened.wrappedValue == 4_000)
    }
}

private final class Session: Sendable {
    static let opened = Protected(0)

    let state = Protected(State())
}

private final class Account: Sendable {
    struct State: Sendable {
        @Protected var balance = 0
        @Protected var log = [Int]()
    }

    let state = State()
}

private actor Counter {
    @Protected var count = 0

    var handle: Protected<Int> { $count }

    func add(_ number: Int) {
        count += number
    }
}
