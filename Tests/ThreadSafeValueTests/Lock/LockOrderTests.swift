//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

/// Threads that take locks in different orders: one crashes with a message before all of them sleep for ever.
@Suite("Locks taken in different orders")
struct LockOrderTests {
    @Test("Two protected values in opposite orders crash with a message that names both", .disabled(if: isLockOfSystem))
    func twoValues() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let (number, text) = (Protected(1), Protected("a"))
            inCircle(2) { index, next in
                if index == 0 {
                    number.write { _ in
                        next()
                        text.write { _ in }
                    }
                } else {
                    text.read { _ in
                        next()
                        number.read { _ in }
                    }
                }
            }
        }
        #expect(result.crashMessage.contains("Threads take locks in different orders"))
        #expect(result.crashMessage.contains("Protected<Int> at 0x"))
        #expect(result.crashMessage.contains("Protected<String> at 0x"))
    }

    @Test("So do more, one behind the other, and bare locks")
    func locks() async throws {
        let results = [
            2: await #expect(processExitsWith: .failure, observing: standardError) { lockInCircle(2) },
            3: await #expect(processExitsWith: .failure, observing: standardError) { lockInCircle(3) },
            7: await #expect(processExitsWith: .failure, observing: standardError) { lockInCircle(7) },
        ]
        for (count, result) in results {
            let message = try #require(result).crashMessage
            #expect(message.contains("Threads take locks in different orders"))
            #expect(message.occurrences(of: "WordLock at 0x") == count)
        }
    }

    @Test("A comparison inside an access takes part as well", .disabled(if: isLockOfSystem))
    func comparison() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let values = [Protected(1), Protected(2)]
            inCircle(2) { index, next in
                values[index].read { _ in
                    next()
                    _ = values[1 - index] == Protected(3)
                }
            }
        }
        #expect(result.crashMessage.contains("Threads take locks in different orders"))
    }

    @Test("One that waits with a time-out closes no circle: it gives up, and the other goes on")
    func timeout() throws {
        try inTime {
            let (first, second) = (Protected(1), Protected(2))
            inCircle(2) { index, next in
                if index == 0 {
                    first.write { _ in
                        next()
                        second.write { $0 += 1 }
                    }
                } else {
                    second.write { _ in
                        next()
                        #expect(first.write(timeout: .milliseconds(20)) { _ in } == nil)
                    }
                }
            }
            #expect(second.wrappedValue == 3)
        }
    }

    @Test("Threads that wait in one order are never taken for a circle, however they crowd")
    func noFalseAlarm() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let values = (0..<4).map { Protected($0) }
            onThreads(6) { index in
                for round in 0..<3_000 {
                    let low = (index + round) % 3
                    values[low].write { lower in
                        values[low + 1].write { upper in swap(&lower, &upper) }
                        // Long enough for the others to fall asleep.
                        if round.isMultiple(of: 32) { usleep(30) }
                    }
                }
            }
            precondition(values.map(\.wrappedValue).sorted() == [0, 1, 2, 3])
        }
    }
}

/// Runs as many threads, each of which goes on behind `next()` only when all have come to it.
private func inCircle(_ count: Int, _ body: @escaping @Sendable (_ index: Int, _ next: () -> Void) -> Void) {
    let gate = StartGate(count: count)
    onThreads(count) { index in body(index) { gate.pass() } }
}

private func lockInCircle(_ count: Int) {
    giveUp(afterSeconds: 120)
    let locks = (0..<count).map { _ in WordLock() }
    inCircle(count) { index, next in
        locks[index].lock()
        next()
        locks[(index + 1) % count].lock()
    }
}

extension String {
    fileprivate func occurrences(of part: String) -> Int {
        components(separatedBy: part).count - 1
    }
}
