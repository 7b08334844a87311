//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

@Suite("A thread that waits for its turn")
struct WaitingThreadTests {
    // Unoptimized code allocates for reasons of its own, and sanitizers need memory themselves.
    #if os(Linux) && canImport(Glibc) && !DEBUG
    /// The thread has waited several times before, long enough to sleep, so that what is made once a thread is there.
    /// Then it uses up all memory, and waits again, for a command of another thread, which goes on for a while when it
    /// sees the first in line.
    @Test("It parks and is woken without allocating, even when there is no memory", .enabled(if: !isSanitized))
    func allocatesNothing() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let value = QueueSafeValue(value: 0)
            let gates = (0..<20).map { _ in (hasTurn: StartGate(count: 2), isOver: StartGate(count: 2)) }
            let other = RunningThread {
                for gate in gates {
                    value.wait.lowestPriority.set { _ in
                        gate.hasTurn.pass()
                        while value.pendingCommandCount == 0 { sched_yield() }
                        spin(2_000_000)
                    }
                    gate.isOver.pass()
                }
            }
            RunningThread {
                for (index, gate) in gates.enumerated() {
                    if index == gates.count - 1 { useUpMemory() }
                    gate.hasTurn.pass()
                    value.wait.highestPriority.set { $0 += 1 }
                    value.wait(timeout: .nanoseconds(1)).lowestPriority.set { $0 += 1 }
                    gate.isOver.pass()
                }
                _exit(EXIT_SUCCESS)
            }.join()
            other.join()
        }
    }
    #endif

    #if !DEBUG

    enum Holder: CaseIterable, Sendable {
        case nobody
        case manual
        case task
    }

    /// To spin pays when the one who has the turn runs and is about to give it back. What a waiting thread uses of its
    /// processor is compared with what it takes to wait in vain for a semaphore; the least of many times each, as noise
    /// only adds to it.
    @Test("It spins less than it takes to park for a turn that no running thread has", arguments: Holder.allCases)
    func spinsForNobody(holder: Holder) async throws {
        let value = QueueSafeValue(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        switch holder {
        case .nobody:
            value.suspend()
            begun.signal()
        case .manual:
            value.async(performIn: .utility).lowestPriority.get { _, done in
                begun.signal()
                DispatchQueue(label: "later").async {
                    mayEnd.wait()
                    done()
                }
            }
        case .task:
            OwnThreads.run {
                await value.async.lowestPriority.set { _ in
                    begun.signal()
                    _ = try? await onThreadOfItsOwn { mayEnd.wait() }
                }
            }
        }
        let (waiting, parking) = try await onThreadOfItsOwn {
            begun.wait()
            // The body, or the closure, has returned or is suspended soon.
            usleep(10_000)
            let semaphore = DispatchSemaphore(value: 0)
            var (waiting, parking) = (UInt64.max, UInt64.max)
            for _ in 0..<1_000 {
                var begin = processorNanoseconds()
                _ = semaphore.wait(timeout: .now() + .microseconds(20))
                parking = min(parking, processorNanoseconds() - begin)
                begin = processorNanoseconds()
                value.wait(timeout: .microseconds(20)).lowestPriority.set { $0 += 1 }
                waiting = min(waiting, processorNanoseconds() - begin)
            }
            return (waiting, parking)
        }
        mayEnd.signal()
        if holder == .nobody { value.resume() }
        #expect(waiting < parking + 4_000, "\(waiting) ns, and \(parking) ns to park")
    }
    #endif

    /// With as many pauses as here, a thread that spins uses up hundreds of milliseconds of its processor before it
    /// parks.
    private static func makeValue() -> QueueSafeValue<Int> {
        var policy = HandoffPolicy()
        policy.spins = 20_000_000
        return QueueSafeValue(value: 0, policy: policy)
    }

    @Test("It does not spin while a manual command waits for its `done`")
    func detached() throws {
        let used = try inTime {
            let value = Self.makeValue()
            let blocker = Blocker(value)
            let used = Log<UInt64>()
            let thread = RunningThread { used.add(Self.processorTimeOfWait(value)) }
            try value.waitForPending(1)
            blocker.end()
            thread.join()
            return used.entries[0]
        }
        #expect(used < 100_000_000)
    }

    @Test("It does not spin while an async body has the turn")
    func asyncBody() async throws {
        let used = try await onThreadOfItsOwn {
            try inTime {
                let value = Self.makeValue()
                let begun = Door()
                OwnThreads.run {
                    await value.async.lowestPriority.set { number in
                        begun.open()
                        while value.pendingCommandCount == 0 { await Task.yield() }
                        number += 1
                    }
                }
                begun.waitUntilOpen()
                return Self.processorTimeOfWait(value)
            }
        }
        #expect(used < 100_000_000)
    }

    private static func processorTimeOfWait(_ value: QueueSafeValue<Int>) -> UInt64 {
        let begin = processorNanoseconds()
        value.wait.lowestPriority.set { $0 += 1 }
        return processorNanoseconds() - begin
    }
}
