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
        if #available(macOS 13, iOS 16, tvOS 16, watchOS 9, *) {
            #expect(await value.async(timeout: Duration.milliseconds(50)).lowestPriority.get() == .success(1))
        }
    }
}
