//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

package final class ProtectedNumber: Changing, Reading, Holding {
    private let value = Protected(0)

    package init() {}

    @inline(never)
    package func change() {
        value.write { $0 &+= 1 }
    }

    @inline(never)
    package func change(for work: Work) {
        value.write {
            work.perform()
            $0 &+= 1
        }
    }

    @inline(never)
    package func read() -> Int {
        value.read { $0 }
    }

    package var total: Int { read() }
}

struct Model: Sendable {
    var count = 0
    var name = ""
}

struct State: Sendable {
    @Protected var count = 0
    @Protected var model = Model()
}

package final class WrappedNumber: Changing, Reading {
    private let state = State()

    package init() {}

    @inline(never)
    package func change() {
        state.count += 1
    }

    @inline(never)
    package func read() -> Int {
        state.count
    }

    package var total: Int { read() }
}

package final class MemberOfModel: Changing, Reading {
    private let state = State()

    package init() {}

    @inline(never)
    package func change() {
        state.$model.count += 1
    }

    @inline(never)
    package func read() -> Int {
        state.$model.count
    }

    package var total: Int { read() }
}

package final class ReplacedMember: Changing {
    private let state = State()

    package init() {}

    @inline(never)
    package func change() {
        state.$model.count = 1
    }

    package var total: Int { state.$model.count }
}

package final class ProtectedEntry: Reading {
    private let names = Protected(["a": 1, "b": 2, "c": 3])

    package init() {}

    @inline(never)
    package func read() -> Int {
        names.read { $0["b"] ?? 0 }
    }
}
