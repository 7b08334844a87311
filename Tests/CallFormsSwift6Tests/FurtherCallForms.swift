//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The call forms that the original framework does not have. Compiled twice, as those that it has.

import Dispatch
import Testing
import ThreadSafeValue

@Suite("The call forms that go further")
struct FurtherCallForms {
    @Test func `change and answer`() async {
        let value = QueueSafeValue(value: [1, 2, 3])
        #expect(waitingUpdate(of: value) == .success(1))
        #expect(await value.async.lowestPriority.update { $0.removeFirst() } == .success(2))
        let count = await value.async.lowestPriority.update { list -> Int in
            await Task.yield()
            list.append(4)
            return list.count
        }
        #expect(count == .success(2))
        let answer: Result<Int, QueueSafeValueError> = await withCheckedContinuation { continuation in
            value.async(performIn: .utility).lowestPriority.update {
                $0.removeFirst()
            } completion: { result in
                continuation.resume(returning: result)
            }
        }
        #expect(answer == .success(3))
    }

    private func waitingUpdate(of value: QueueSafeValue<[Int]>) -> Result<Int, QueueSafeValueError> {
        value.wait.lowestPriority.update { $0.removeFirst() }
    }

    @Test func `wait for a condition, then change`() {
        let value = QueueSafeValue(value: 2)
        #expect(value.wait.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 } == .success(1))
        let late = value.wait(timeout: .milliseconds(1)).lowestPriority.set(when: { $0 > 1 }) { $0 -= 1 }
        #expect(late == .failure(.timedOut))
        let text = value.wait.lowestPriority.update(when: { $0 == 1 }) { number -> String in
            number = 0
            return "\(number)"
        }
        #expect(text == .success("0"))
        let synced = QueueSafeSyncedValue(value: 1)
        #expect(synced.lowestPriority.set(when: { $0 == 1 }) { $0 = 0 } == .success(0))
    }

    @Test func `await a condition, then change`() async {
        let value = QueueSafeValue(value: 0)
        async let taken = value.async.lowestPriority.set(when: { $0 > 0 }) { $0 -= 1 }
        async let answered = value.async(timeout: .seconds(60)).lowestPriority.update(when: { $0 > 0 }) {
            number -> Bool in
            number -= 1
            return true
        }
        await value.async.highestPriority.set { $0 += 2 }
        let (number, isTaken) = await (taken, answered)
        #expect(number == .success(1) || number == .success(0))
        #expect(isTaken == .success(true))
    }

    @Test func `awaited commands with a time-out`() async {
        let value = QueueSafeValue(value: 0)
        #expect(await value.async(timeout: .milliseconds(50)).lowestPriority.set { $0 += 1 } == .success(1))
        #expect(await value.async(timeout: .seconds(0)).highPriority.get() == .success(1))
    }
}

extension FurtherCallForms {
    @Test func `submit now, await later`() async {
        let value = QueueSafeValue(value: [Int]())
        let commands = value.async(performIn: DispatchQueue(label: "target")).lowestPriority
        let first = commands.set { $0.append(1) }
        let second = commands.update { list -> Int in
            list.append(2)
            return list.count
        }
        #expect(await second.value == .success(2))
        #expect(first.state == .finished)
        guard case .success = await first.value else {
            Issue.record("It failed.")
            return
        }
        let third: CommandHandle<Int> = value.async(performIn: .main).lowestPriority.update { $0.count }
        #expect(await third.value == .success(2))
        #expect(!third.cancel())
    }

    @Test func `an error of the closure`() {
        struct NetworkDown: Error {}
        let page = QueueSafeValue(value: "")
        switch page.wait.lowestPriority.set({ _ in throw NetworkDown() }) {
        case .failure(.unexpected(_ as NetworkDown)): break
        case .failure, .success: Issue.record("It has another answer.")
        }
        let loaded = page.wait.lowestPriority.set { _ in throw NetworkDown() }
        #expect(throws: NetworkDown.self) { try loaded.getOrRethrow() }
    }

    @MainActor
    @Test func `the main actor`() async {
        let counter = Counter()
        let value = QueueSafeValue(value: 1)
        await value.async.lowestPriority.set { $0 += counter.next() }
        #expect(await value.async.lowestPriority.update { $0 + counter.next() } == .success(4))
    }

    @Test func `changes from now, and cancelling all`() async {
        let value = QueueSafeValue(value: 1)
        var numbers: [Int] = []
        for await number in value.changes(startingWithCurrentValue: true) {
            numbers.append(number)
            break
        }
        for await number in Protected(2).changes(startingWithCurrentValue: true, buffering: .unbounded) {
            numbers.append(number)
        }
        #expect(numbers == [1, 2])
        value.cancelAllPendingCommands()
        #expect(value.cancelAllPendingCommands(.lowest) == 0)
        #expect(value.pendingCommandCount() == value.pendingCommandCount(.lowest))
    }
}

@MainActor
private final class Counter {
    private var count = 0

    nonisolated init() {}

    func next() -> Int {
        count += 1
        return count
    }
}

extension FurtherCallForms {
    @Test func `several values at once`() {
        let (from, to, fee) = (QueueSafeValue(value: 10), QueueSafeValue(value: 0), QueueSafeValue(value: 0.5))
        withLocked(from, to) { from, to in
            from -= 5
            to += 5
        }
        withLocked(from, to, fee, priority: .highest, timeout: .milliseconds(50)) { from, _, fee in
            from -= 1
            fee += 1
        }
        let sum = withLocked([from, to]) { $0.reduce(0, +) }
        #expect(sum == .success(9))
    }
}
