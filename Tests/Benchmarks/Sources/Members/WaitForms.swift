//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

extension WaitCommands<Int> {
    /// The number now, or a number that no form can have.
    fileprivate var total: Int {
        if case .success(let total) = get() { total } else { -1 }
    }
}

package final class HighestPriority: Changing, Reading, Holding {
    private let value = QueueSafeValue(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        value.wait.highestPriority.set { $0 &+= 1 }
    }

    @inline(never)
    package func change(for work: Work) {
        value.wait.highestPriority.set {
            work.perform()
            $0 &+= 1
        }
    }

    @inline(never)
    package func read() -> Int {
        if case .success(let number) = value.wait.highestPriority.get() { number } else { -1 }
    }

    package var total: Int { read() }
}

package final class LowestPriority: Changing, Reading {
    private let value = QueueSafeValue(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        value.wait.lowestPriority.set { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        if case .success(let number) = value.wait.lowestPriority.get() { number } else { -1 }
    }

    package var total: Int { read() }
}

package final class Synced: Changing, Reading {
    private let value = QueueSafeSyncedValue(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        value.highestPriority.set { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        if case .success(let number) = value.highestPriority.get() { number } else { -1 }
    }

    package var total: Int { read() }
}

package final class KeptCommands: Changing, Reading {
    private let commands = QueueSafeValue(value: 0).wait.highestPriority

    package init() {}

    @inline(never)
    package func change() {
        commands.set { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        if case .success(let number) = commands.get() { number } else { -1 }
    }

    package var total: Int { read() }
}

private let globalValue = QueueSafeValue(value: 0)

package final class GlobalValue: Changing, Reading {
    // The global is older than this.
    private let before: Int

    package init() {
        before = globalValue.wait.highestPriority.total
    }

    @inline(never)
    package func change() {
        globalValue.wait.highestPriority.set { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        if case .success(let number) = globalValue.wait.highestPriority.get() { number } else { -1 }
    }

    package var total: Int { read() - before }
}

package final class TimedWait: Changing {
    private let value = QueueSafeValue(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        value.wait(timeout: .seconds(10)).highestPriority.set { $0 &+= 1 }
    }

    package var total: Int { value.wait.highestPriority.total }
}

package final class ManualCompletion: Changing {
    private let value = QueueSafeValue(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        value.wait.highestPriority.set { current, done in
            current &+= 1
            done()
        }
    }

    package var total: Int { value.wait.highestPriority.total }
}

package final class Mapped: Reading {
    private let value = QueueSafeValue(value: 0)

    package init() {}

    @inline(never)
    package func read() -> Int {
        let result = value.wait.highestPriority.map { $0 &+ 1 }
        return if case .success(let number) = result { number } else { -1 }
    }
}
