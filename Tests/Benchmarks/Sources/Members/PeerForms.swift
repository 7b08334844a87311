//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import NIOConcurrencyHelpers
import Synchronization

// What people use instead.

package final class MutexNumber: Changing, Reading, Holding {
    private let value = Mutex(0)

    package init() {}

    @inline(never)
    package func change() {
        value.withLock { $0 &+= 1 }
    }

    @inline(never)
    package func change(for work: Work) {
        value.withLock {
            work.perform()
            $0 &+= 1
        }
    }

    @inline(never)
    package func read() -> Int {
        value.withLock { $0 }
    }

    package var total: Int { read() }
}

package final class MutexEntry: Reading {
    private let names = Mutex(["a": 1, "b": 2, "c": 3])

    package init() {}

    @inline(never)
    package func read() -> Int {
        names.withLock { $0["b"] ?? 0 }
    }
}

private let globalMutex = Mutex(0)

package final class GlobalMutex: Changing, Reading {
    private let before: Int

    package init() {
        before = globalMutex.withLock { $0 }
    }

    @inline(never)
    package func change() {
        globalMutex.withLock { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        globalMutex.withLock { $0 }
    }

    package var total: Int { read() - before }
}

package final class NIONumber: Changing, Reading, Holding {
    private let value = NIOLockedValueBox(0)

    package init() {}

    @inline(never)
    package func change() {
        value.withLockedValue { $0 &+= 1 }
    }

    @inline(never)
    package func change(for work: Work) {
        value.withLockedValue {
            work.perform()
            $0 &+= 1
        }
    }

    @inline(never)
    package func read() -> Int {
        value.withLockedValue { $0 }
    }

    package var total: Int { read() }
}

package final class NIOEntry: Reading {
    private let names = NIOLockedValueBox(["a": 1, "b": 2, "c": 3])

    package init() {}

    @inline(never)
    package func read() -> Int {
        names.withLockedValue { $0["b"] ?? 0 }
    }
}

package final class NSLockNumber: Changing, Reading, @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    private var value = 0

    package init() {}

    @inline(never)
    package func change() {
        lock.lock()
        value &+= 1
        lock.unlock()
    }

    @inline(never)
    package func read() -> Int {
        lock.lock()
        defer { lock.unlock() }
        return value
    }

    package var total: Int { read() }
}

package final class SerialQueueNumber: Changing, Reading, @unchecked Sendable {
    private let queue = DispatchQueue(label: "number")
    // Touched on `queue` only.
    private var value = 0

    package init() {}

    @inline(never)
    package func change() {
        queue.sync { value &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        queue.sync { value }
    }

    package var total: Int { read() }
}
