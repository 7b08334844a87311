//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

// Forms of which only the instructions are counted.

/// A call that does nothing.
package final class Empty: Changing {
    package init() {}

    @inline(never)
    package func change() {}

    package var total: Int { 0 }
}

/// A value that is made for one access.
package final class ShortLife: Changing {
    package init() {}

    @inline(never)
    package func change() {
        let value = Protected(0)
        value.write { $0 &+= 1 }
    }

    package var total: Int { 0 }
}

/// A value that somebody listens to.
package final class Listened: Changing, Reading {
    private let value: Protected<Int>
    private let changes: ValueChanges<Int>

    package init() {
        value = Protected(0)
        changes = value.changes()
    }

    @inline(never)
    package func change() {
        value.write { $0 &+= 1 }
    }

    @inline(never)
    package func read() -> Int {
        value.read { $0 }
    }

    package var total: Int { read() }
}

package final class TwoLocked: Changing {
    private let first = Protected(0)
    private let second = Protected(0)

    package init() {}

    @inline(never)
    package func change() {
        withLocked(first, second) { first, second in
            first &+= 1
            second &+= 1
        }
    }

    package var total: Int { first.read { $0 } }
}

package final class ThreeLocked: Changing {
    private let first = Protected(0)
    private let second = Protected(0)
    private let third = Protected(0)

    package init() {}

    @inline(never)
    package func change() {
        withLocked(first, second, third) { first, second, third in
            first &+= 1
            second &+= 1
            third &+= 1
        }
    }

    package var total: Int { first.read { $0 } }
}

package final class ListLocked: Changing {
    private let values = (0..<10).map { Protected($0) }

    package init() {}

    @inline(never)
    package func change() {
        withLocked(values) { $0[0] &+= 1 }
    }

    package var total: Int { values[0].read { $0 } }
}
