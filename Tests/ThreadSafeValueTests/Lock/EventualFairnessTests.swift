//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// No thread waits for a lock for ever: one that sleeps for long is handed it.
@Suite("Eventual fairness")
struct EventualFairnessTests {
    @Test("A thread that has slept for long is handed the lock by the next unlock, and no newcomer comes between")
    func handsOver() throws {
        try inTime {
            for _ in 0..<20 {
                let (lock, mayEnd) = (WordLock(), Door())
                lock.lock()
                let sleeper = RunningThread { lock.around { mayEnd.waitUntilOpen() } }
                try poll("it sleeps") { lock.sleepingThreadCount == 1 }
                // Longer than the 0.25 ms after which it is owed the lock; how much longer doesn't matter.
                Thread.sleep(forTimeInterval: 0.001)
                lock.unlock()
                #expect(!lock.tryLock(), "The sleeper has it, though it may not have woken up yet.")
                mayEnd.open()
                sleeper.join()
                #expect(lock.tryLock())
                lock.unlock()
            }
        }
    }

    @Test("Threads that are owed the lock are handed it in the order in which they fell asleep")
    func handsOverInOrder() throws {
        try inTime {
            let (lock, log) = (WordLock(), Log<Int>())
            // Each unlock hands over.
            lock.withLine { $0.handoffDelay = 0 }
            lock.lock()
            let sleepers = try (0..<8).map { index in
                let sleeper = RunningThread { lock.around { log.add(index) } }
                try poll("it sleeps") { lock.sleepingThreadCount == index + 1 }
                return sleeper
            }
            lock.unlock()
            for sleeper in sleepers { sleeper.join() }
            #expect(log.entries == Array(0..<8))
        }
    }

    @Test("A thread that waits with a time-out stands in the same line, and is handed the lock as well")
    func handsOverInTime() throws {
        try inTime {
            let (lock, mayEnd) = (WordLock(), Door())
            lock.lock()
            let sleeper = RunningThread {
                #expect(lock.lock(until: now() + 600_000_000_000))
                mayEnd.waitUntilOpen()
                lock.unlock()
            }
            try poll("it sleeps") { lock.sleepingThreadCount == 1 }
            Thread.sleep(forTimeInterval: 0.001)
            lock.unlock()
            #expect(!lock.tryLock())
            mayEnd.open()
            sleeper.join()
        }
    }

    @Test("A thread whose time is over leaves the line, and the lock goes to the others")
    func leaves() throws {
        try inTime {
            let (lock, counter) = (WordLock(), Unguarded(0))
            lock.lock()
            let sleeper = RunningThread { lock.around { counter.value += 1 } }
            try poll("it sleeps") { lock.sleepingThreadCount == 1 }
            RunningThread { #expect(!lock.lock(until: now() + 1_000_000)) }.join()
            #expect(lock.sleepingThreadCount == 1)
            lock.unlock()
            sleeper.join()
            #expect(lock.around { counter.value } == 1)
        }
    }

    @Test("A thread that is woken just when its time is over passes that on: the one behind it is not forgotten")
    func wokenTooLate() throws {
        try inTime {
            for round in 0..<rounds(1_000) {
                let lock = WordLock()
                lock.lock()
                // Which of the two comes first is left to chance, and so is what happens in these microseconds.
                let deadline = now() + 200_000
                let inTime = RunningThread { if lock.lock(until: deadline) { lock.unlock() } }
                let sleeper = RunningThread { lock.around {} }
                let unlocking = deadline + UInt64(round % 100) * 1_000
                while now() < unlocking {}
                lock.unlock()
                // Mostly here before the woken thread is. If it does not mark the lock, nobody looks for the other one.
                lock.lock()
                usleep(100)
                lock.unlock()
                inTime.join()
                sleeper.join()
            }
        }
    }

    /// Two sleep, and the first is woken but does not run: it is in a signal handler. The second must not need it.
    @Test("A thread that was woken and does not run stands in nobody's way")
    func wokenAndHeldUp() async {
        await #expect(processExitsWith: .success) { Self.passHeldUpThreads(isTimed: false, hasLooked: false) }
        await #expect(processExitsWith: .success) { Self.passHeldUpThreads(isTimed: false, hasLooked: true) }
        await #expect(processExitsWith: .success) { Self.passHeldUpThreads(isTimed: true, hasLooked: false) }
        await #expect(processExitsWith: .success) { Self.passHeldUpThreads(isTimed: true, hasLooked: true) }
    }

    private static func passHeldUpThreads(isTimed: Bool, hasLooked: Bool) {
        giveUp(afterSeconds: 60)
        var rounds = 0
        // The first must be woken, and not be handed the lock; so both must fall asleep before it is owed that.
        while rounds < 3 {
            if passesHeldUpThread(isTimed: isTimed, hasLooked: hasLooked) { rounds += 1 }
        }
    }

    private static func passesHeldUpThread(isTimed: Bool, hasLooked: Bool) -> Bool {
        let lock = WordLock()
        lock.withLine { $0.handoffDelay = 100_000_000 }
        let second = RunningThread {
            while lock.sleepingThreadCount == 0 { usleep(10) }
            if isTimed {
                precondition(lock.lock(until: now() + 600_000_000_000))
            } else {
                lock.lock()
            }
            lock.unlock()
        }
        lock.lock()
        // In time: a look of this wait holds nothing but the queue's mutex, and that for a moment. If it were held up
        // with a lock of the memory allocator, everybody would stand.
        let (thread, first) = HeldUpThread.start {
            precondition(lock.lock(until: now() + 600_000_000_000))
            lock.unlock()
        }
        while lock.sleepingThreadCount == 0 { usleep(10) }
        thread.holdUp()
        while lock.sleepingThreadCount < 2 { usleep(10) }
        // Both look for themselves after 10 ms.
        if hasLooked { usleep(15_000) }
        lock.unlock()
        let isFree = lock.tryLock()
        if isFree {
            // Somebody who uses the lock often, and never for long.
            let isOver = Protected(false)
            lock.unlock()
            let other = RunningThread { while !isOver.wrappedValue { lock.around {} } }
            second.join()
            isOver.wrappedValue = true
            other.join()
        }
        thread.letGo()
        first.join()
        second.join()
        return isFree
    }

    @Test("A lock whose only sleeper has left is unlocked like any other")
    func leftAlone() throws {
        try inTime {
            let lock = WordLock()
            lock.lock()
            RunningThread { #expect(!lock.lock(until: now() + 1_000_000)) }.join()
            #expect(lock.sleepingThreadCount == 0)
            lock.unlock()
            onThreads(2) { _ in lock.around {} }
            #expect(lock.tryLock())
            lock.unlock()
        }
    }

    @Test("Time-outs that race unlocks: nobody has the lock beside another, and nobody sleeps for ever")
    func timeoutsRace() throws {
        try inTime {
            let (lock, counter, taken) = (WordLock(), Unguarded(0), Protected(0))
            onThreads(4) { index in
                var own = 0
                for round in 0..<3_000 {
                    // Every other thread waits as long as it takes: it is the one who would not be woken.
                    if index.isMultiple(of: 2) {
                        lock.lock()
                    } else if !lock.lock(until: now() + UInt64((round &* 7 + index) % 40) * 1_000) {
                        continue
                    }
                    counter.value += 1
                    own += 1
                    // Long enough for the others to fall asleep.
                    if round.isMultiple(of: 8) { usleep(20) }
                    lock.unlock()
                }
                taken.wrappedValue += own
            }
            #expect(lock.around { counter.value } == taken.wrappedValue)
        }
    }

    @Test("A thread that nearly always has a value starves no other, and no time-out", .disabled(if: isLockOfSystem))
    func starvesNobody() throws {
        try inTime {
            let (number, isOver) = (Protected(0), Protected(false))
            let hog = RunningThread {
                while !isOver.wrappedValue {
                    number.write { _ in Thread.sleep(forTimeInterval: 0.002) }
                }
            }
            // Without hand-over each of these takes seconds, when it comes at all.
            for _ in 0..<20 {
                number.wrappedValue += 1
                #expect(number.write(timeout: .seconds(300)) { $0 += 1 } != nil)
            }
            isOver.wrappedValue = true
            hog.join()
            #expect(number.wrappedValue == 40)
        }
    }

    @Test("A time-out occupies no thread but the caller's: the global queue goes on while the values are still held")
    func occupiesNobody() throws {
        try inTime {
            let (held, mayEnd) = (Protected(0), Door())
            let values = (0..<16).map { Protected($0) }
            let holders = values.map { value in
                RunningThread {
                    value.read { _ in
                        held.wrappedValue += 1
                        mayEnd.waitUntilOpen()
                    }
                }
            }
            held.wait { $0 == 16 }
            for value in values { #expect(value.write(timeout: .milliseconds(1)) { _ in } == nil) }
            let started = DispatchSemaphore(value: 0)
            DispatchQueue.global().async { started.signal() }
            #expect(started.wait(timeout: .now() + .seconds(300)) == .success)
            mayEnd.open()
            for holder in holders { holder.join() }
        }
    }
}
