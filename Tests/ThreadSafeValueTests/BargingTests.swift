//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

/// The successor is a command for a queue that stands still, so the turn is free for as long as the test takes. Who has
/// submitted commands is noted in one of 64 bits: a newcomer that shares its bit with another thread may not barge, so each
/// thread is tried with others in turn.
@Suite("A newcomer barges past its equal until the deadline of that")
struct BargingTests {
    @Test("Also when it has submitted commands before, which are done")
    func ownCommandsAreDone() throws {
        let answers = try inTime {
            try (0..<8).map { round in
                let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
                value.async(performIn: .utility).lowestPriority.set { $0 += 1 }
                try poll("its command is done") {
                    value.pendingCommandCount == 0 && value.wait.lowestPriority.get() == .success(1)
                }
                let front = Front(value, onThread: round)
                defer { front.leave() }
                return value.wait(timeout: .seconds(0)).lowestPriority.get()
            }
        }
        #expect(answers.contains(.success(1)))
    }

    @Test("But not past a more urgent one, neither at once nor when its time is over")
    func moreUrgent() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 600_000_000_000))
            let queue = DispatchQueue(label: "suspended")
            queue.suspend()
            defer { queue.resume() }
            let handle = value.async(performIn: queue).highestPriority.set { $0 += 10 }
            defer { handle.cancel() }
            return [0, 50].map { value.wait(timeout: .milliseconds($0)).lowestPriority.get() }
        }
        #expect(answers == [.failure(.timedOut), .failure(.timedOut)])
    }

    @Test("Also when the deadline of one that waited before was over")
    func deadlineOfAnother() throws {
        let answers = try inTime {
            (0..<8).map { round in
                let value = QueueSafeValue(value: 0, policy: Self.policy(barging: 50_000_000))
                let first = Front(value, onThread: round)
                usleep(60_000)
                let late = value.wait(timeout: .seconds(0)).lowestPriority.get()
                first.leave()
                let second = Front(value, onThread: round)
                defer { second.leave() }
                return [late, value.wait(timeout: .seconds(0)).lowestPriority.get()]
            }
        }
        #expect(answers.allSatisfy { $0[0] == .failure(.timedOut) })
        #expect(answers.contains { $0[1] == .success(0) })
    }

    private static func policy(barging: UInt64) -> HandoffPolicy {
        var policy = HandoffPolicy.unbounded
        policy.barging = barging
        return policy
    }

    /// A lowest command that does not begin before it leaves.
    private struct Front {
        private let queue = DispatchQueue(label: "suspended")
        private let handle: CommandHandle

        /// - Parameters:
        ///   - value: the value.
        ///   - number: which of several threads that run at once submits it.
        init(_ value: QueueSafeValue<Int>, onThread number: Int) {
            queue.suspend()
            let handles = Log<CommandHandle>()
            let queue = queue
            onThreads(number + 1) { index in
                if index == number { handles.add(value.async(performIn: queue).lowestPriority.set { $0 += 10 }) }
            }
            handle = handles.entries[0]
        }

        func leave() {
            handle.cancel()
            queue.resume()
        }
    }
}
