//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// `QueueSafeSyncedValue` and `QueueSafeAsyncedValue` have what `QueueSafeValue` has beside its schedules.
@Suite("What every queue-safe value has")
struct QueueSafeContainerTests {
    @Test("A synced value: changes, suspending, counts and cancelling")
    func synced() async {
        let value = QueueSafeSyncedValue(value: 0)
        await hasAll(value, commands: value.queueSafeValue.async(performIn: .global()).lowestPriority)
        var iterator = value.changes(buffering: .unbounded).makeAsyncIterator()
        change(value)
        #expect(await iterator.next() == 10)
    }

    @Test("An asynced value: changes, suspending, counts and cancelling")
    func asynced() async {
        let value = QueueSafeAsyncedValue(value: 0, queue: DispatchQueue(label: "asynced"))
        await hasAll(value, commands: value.lowestPriority)
    }

    /// While it is suspended the commands wait, so that they can be counted and cancelled without a race.
    private func hasAll(_ value: some QueueSafeContainer<Int>, commands: AsyncCommands<Int>) async {
        Mistakes.keepQuiet()
        var iterator = value.changes(startingWithCurrentValue: true, buffering: .unbounded).makeAsyncIterator()
        #expect(await iterator.next() == 0)
        value.suspend()
        let first = commands.set { $0 = 1 }
        let second = commands.set { $0 = 2 }
        #expect(value.pendingCommandCount() == 2)
        #expect(value.pendingCommandCount(.lowest) == 2)
        #expect(value.pendingCommandCount(.highest) == 0)
        #expect(value.cancelAllPendingCommands(.highest) == 0)
        #expect(value.cancelAllPendingCommands() == 2)
        #expect(first.state == .cancelled)
        #expect(second.state == .cancelled)
        commands.set { $0 = 3 }
        guard case .success = value.resume() else {
            Issue.record("It was suspended.")
            return
        }
        #expect(await iterator.next() == 3)
        guard case .failure(.notSuspended) = value.resume() else {
            Issue.record("It was suspended once.")
            return
        }
    }

    @Test("The schedules of `queueSafeValue` use the same value")
    func sameValue() {
        let synced = QueueSafeSyncedValue(value: 1)
        synced.queueSafeValue.wait(timeout: .seconds(300)).lowestPriority.set { $0 = 2 }
        #expect(synced.lowestPriority.get() == .success(2))
        let asynced = QueueSafeAsyncedValue(value: 1, queue: .global())
        #expect(asynced.queueSafeValue.wait.lowestPriority.set { $0 = 2 } == .success(2))
        let value = QueueSafeValue(value: 1)
        value.queueSafeValue.wait.lowestPriority.set { $0 = 2 }
        #expect(value.wait.lowestPriority.get() == .success(2))
    }

    @Test("A bound for what waits")
    func limits() {
        let asynced = QueueSafeAsyncedValue(value: 0, queue: .global(), pendingCommandLimit: 1)
        isBounded(asynced, commands: asynced.lowestPriority)
        let synced = QueueSafeSyncedValue(value: 0, pendingCommandLimit: 1)
        isBounded(synced, commands: synced.queueSafeValue.async(performIn: .global()).lowestPriority)
    }

    private func isBounded(_ value: some QueueSafeContainer<Int>, commands: AsyncCommands<Int>) {
        value.suspend()
        #expect(commands.set { $0 = 1 }.state == .waiting)
        #expect(commands.set { $0 = 2 }.state == .refused)
        value.resume()
    }

    @Test("Values of all kinds are taken together")
    func together() {
        Mistakes.keepQuiet()
        let synced = QueueSafeSyncedValue(value: 10)
        let asynced = QueueSafeAsyncedValue(value: 0, queue: .global())
        let value = QueueSafeValue(value: "")
        withLocked(synced, asynced) { synced, asynced in
            synced -= 4
            asynced += 4
        }
        let text = withLocked(value, synced, asynced, timeout: .seconds(300)) { value, synced, asynced in
            value = "\(synced) and \(asynced)"
            return value
        }
        #expect(text == .success("6 and 4"))
        let sum = withLocked([synced, QueueSafeSyncedValue(value: 1)]) { $0.reduce(0, +) }
        #expect(sum == .success(7))
        #expect(withLocked(synced, synced.queueSafeValue) { one, same in one + same } == .failure(.reentrantCommand))
    }
}

// In an async test a waiting command would block a thread that all tasks share.
private func change(_ value: QueueSafeSyncedValue<Int>) {
    value.lowestPriority.set { $0 = 10 }
}
