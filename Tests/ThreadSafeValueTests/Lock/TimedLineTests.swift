//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// How threads wait with a time-out for a lock of the system: here for one that is a flag.
@Suite("TimedLine")
struct TimedLineTests {
    @Test("A release wakes the thread that came first, and nothing else does")
    func released() throws {
        try inTime {
            let (isFree, looks, waiters) = (Protected(false), Protected(0), Protected(0))
            // It never looks for itself.
            let line = TimedLine(lookDelay: 1 << 62) { _ in }
            var threads = [RunningThread]()
            for number in 1...3 {
                threads.append(
                    RunningThread {
                        let hasLock = line.wait(until: .max) {
                            let hasTaken = isFree.exchange(false)
                            looks.wrappedValue += 1
                            return hasTaken
                        }
                        #expect(hasLock)
                        // The first takes it first.
                        waiters.write { waiters in
                            waiters += 1
                            #expect(waiters == number)
                        }
                    }
                )
                try poll("it has looked and is to sleep") { looks.wrappedValue == number }
            }
            for number in 1...3 {
                isFree.wrappedValue = true
                line.wakeFront()
                threads[number - 1].join()
                #expect(looks.wrappedValue == 3 + number)
            }
        }
    }

    @Test("A thread that comes too late keeps its place, and sleeps again")
    func tooLate() throws {
        try inTime {
            let (isFree, looks) = (Protected(false), Protected([Int]()))
            let line = TimedLine(lookDelay: 1 << 62) { _ in }
            var threads = [RunningThread]()
            for number in 0..<2 {
                threads.append(
                    RunningThread {
                        _ = line.wait(until: .max) {
                            let hasTaken = isFree.exchange(false)
                            looks.append(number)
                            return hasTaken
                        }
                    }
                )
                try poll("it has looked and is to sleep") { looks.count == number + 1 }
            }
            // Another thread has taken it again.
            line.wakeFront()
            try poll("it has looked again") { looks.count == 3 }
            isFree.wrappedValue = true
            line.wakeFront()
            threads[0].join()
            isFree.wrappedValue = true
            line.wakeFront()
            threads[1].join()
            #expect(looks.wrappedValue == [0, 1, 0, 0, 1])
        }
    }

    @Test("A thread that nobody wakes looks a few times, and then its time is over")
    func polls() {
        var looks = 0
        var isWaitedFor = [Bool]()
        let line = TimedLine { isWaitedFor.append($0) }
        let hasLock = line.wait(until: DispatchTime.now().uptimeNanoseconds + 150_000_000) {
            looks += 1
            return false
        }
        #expect(!hasLock)
        // At once, after 10, 30 and 70 ms, and at the end.
        #expect((2...5).contains(looks))
        #expect(isWaitedFor.first == true)
        #expect(isWaitedFor.last == false)
    }
}
