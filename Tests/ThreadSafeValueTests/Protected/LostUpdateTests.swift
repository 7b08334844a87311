//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

/// The bug that the README opens with: a wrapper whose getter and setter lock is not safe under `+=`.
@Suite("Lost updates")
struct LostUpdateTests {
    /// The getter and the setter lock, each for itself: what most projects have.
    @propertyWrapper
    private final class Locked<Value>: @unchecked Sendable {
        private let lock = NSLock()
        // Guarded by `lock`.
        private var value: Value

        init(wrappedValue: Value) { value = wrappedValue }

        var wrappedValue: Value {
            get {
                lock.lock()
                defer { lock.unlock() }
                return value
            }
            set {
                lock.lock()
                defer { lock.unlock() }
                value = newValue
            }
        }
    }

    private struct Visits: Sendable {
        @Locked var naive = Count()
        @Protected var protected = Count()
    }

    /// A change that can call something in its middle, as another thread may come there at any time.
    private struct Count: Sendable {
        var number = 0

        mutating func add(_ amount: Int, meanwhile: () -> Void = {}) {
            meanwhile()
            number += amount
        }
    }

    /// The second thread changes the value between the first one's read and write, and has ended before that write.
    @Test("A wrapper with a locking getter and setter loses one of two updates")
    func naive() {
        let visits = Visits()
        visits.naive.add(1) {
            RunningThread { visits.naive.add(1) }.join()
        }
        #expect(visits.naive.number == 1)
    }

    /// The second thread is started at the same place, and has to wait: `add` of the first one ends before it begins.
    @Test("Protected loses none")
    func protected() {
        let visits = Visits()
        let other = Protected<RunningThread?>(nil)
        visits.protected.add(1) {
            let started = Door()
            other.wrappedValue = RunningThread {
                started.open()
                visits.protected.add(1)
            }
            started.waitUntilOpen()
        }
        other.wrappedValue?.join()
        #expect(visits.protected.number == 2)
    }

    @Test("Neither does a queue-safe value")
    func queueSafe() {
        let visits = QueueSafeValue(value: Count())
        let other = Protected<RunningThread?>(nil)
        visits.wait.lowestPriority.set { count in
            count.add(1) {
                let started = Door()
                other.wrappedValue = RunningThread {
                    started.open()
                    visits.wait.lowestPriority.set { $0.add(1) }
                }
                started.waitUntilOpen()
            }
        }
        other.wrappedValue?.join()
        #expect((try? visits.wait.lowestPriority.get().get().number) == 2)
    }
}
