//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Boxes
import Dispatch
import Synchronization
import ThreadSafeValue

// Forms that code bases had which were moved onto the library, each beside its peer.

// MARK: A generic class of another module

package final class GenericProtected: Changing, Reading {
    private let box = ProtectedBox(0)

    package init() {}

    @inline(never)
    package func change() {
        box.change { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        box.set(1)
        return box.get()
    }

    package var total: Int { box.get() }
}

package final class GenericQueueSafe: Changing {
    private let box = QueueSafeBox(0)

    package init() {}

    @inline(never)
    package func change() {
        box.change { $0 &+= 1 }
    }

    package var total: Int { box.get() ?? -1 }
}

package final class GenericQueueSafeUpdate: Changing {
    private let box = QueueSafeBox(0)

    package init() {}

    @inline(never)
    package func change() {
        box.update { $0 &+= 1 }
    }

    package var total: Int { box.get() ?? -1 }
}

package final class GenericMutexAnswer: Changing {
    private let box = MutexBox(0)

    package init() {}

    @inline(never)
    package func change() {
        box.changeAndAnswer { $0 &+= 1 }
    }

    package var total: Int { box.get() }
}

package final class GenericMutex: Changing, Reading {
    private let box = MutexBox(0)

    package init() {}

    @inline(never)
    package func change() {
        box.change { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        box.set(1)
        return box.get()
    }

    package var total: Int { box.get() }
}

// MARK: A wrapped property of a class

// Its handles are never replaced.
package final class WrappedMembers: Changing, @unchecked Sendable {
    @Protected private var count = 0

    package init() {}

    @inline(never)
    package func change() {
        count += 1
    }

    package var total: Int { count }
}

// Its handles are never replaced.
package final class WrappedModel: Changing, @unchecked Sendable {
    @Protected private var model = Model()

    package init() {}

    @inline(never)
    package func change() {
        $model.count += 1
    }

    package var total: Int { $model.count }
}

// MARK: An element, a key, a part

private let manyNumbers = Array(repeating: 0, count: 1_000)

// Its handles are never replaced.
package final class WrappedElement: Changing, @unchecked Sendable {
    @Protected private var list = manyNumbers

    package init() {}

    @inline(never)
    package func change() {
        $list[0] += 1
    }

    package var total: Int { list[0] }
}

package final class HandleElement: Changing {
    private let list = Protected(manyNumbers)

    package init() {}

    @inline(never)
    package func change() {
        list[0] += 1
    }

    package var total: Int { list[0] }
}

package final class MutexElement: Changing {
    private let list = Mutex(manyNumbers)

    package init() {}

    @inline(never)
    package func change() {
        list.withLock { $0[0] += 1 }
    }

    package var total: Int { list.withLock { $0[0] } }
}

private let manyEntries = Dictionary(uniqueKeysWithValues: (0..<64).map { ($0, $0) })

// Its handles are never replaced.
package final class WrappedKey: Reading, @unchecked Sendable {
    @Protected private var table = manyEntries

    package init() {}

    @inline(never)
    package func read() -> Int {
        $table[7] = 1
        return 1
    }
}

package final class MutexKey: Reading {
    private let table = Mutex(manyEntries)

    package init() {}

    @inline(never)
    package func read() -> Int {
        table.withLock { $0[7] = 1 }
        return 1
    }
}

package final class HandlePart: Reading {
    private let list = Protected(Array(repeating: 0, count: 1_000_000))

    package init() {}

    @inline(never)
    package func read() -> Int {
        list[1...2] = [1, 2]
        return 1
    }
}

package final class MutexPart: Reading {
    private let list = Mutex(Array(repeating: 0, count: 1_000_000))

    package init() {}

    @inline(never)
    package func read() -> Int {
        list.withLock { $0[1...2] = [1, 2] }
        return 1
    }
}

// MARK: One command at a time, until it is told

package final class LoneAsyncSet: Changing {
    private let value = QueueSafeValue(value: 0)
    private let queue = DispatchQueue(label: "target")
    private let told = DispatchSemaphore(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        value.async(performIn: queue).lowestPriority.set {
            $0 &+= 1
        } completion: { [told] _ in
            told.signal()
        }
        told.wait()
    }

    package var total: Int {
        if case .success(let number) = value.wait.lowestPriority.get() { number } else { -1 }
    }
}

package final class LoneBlockWithLock: Changing {
    private let value = Mutex(0)
    private let queue = DispatchQueue(label: "target")
    private let told = DispatchSemaphore(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        queue.async {
            self.value.withLock { $0 &+= 1 }
            self.told.signal()
        }
        told.wait()
    }

    package var total: Int { value.withLock { $0 } }
}
