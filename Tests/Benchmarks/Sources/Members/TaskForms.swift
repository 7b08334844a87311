//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

package final class AwaitedSet: Awaiting {
    private let value = QueueSafeValue(value: 0)

    package init() {}

    @inline(never)
    package func change() async {
        await value.async.highestPriority.set { $0 &+= 1 }
    }

    package var total: Int {
        get async {
            if case .success(let number) = await value.async.highestPriority.get() { number } else { -1 }
        }
    }
}

package final class ActorNumber: Awaiting {
    private actor Number {
        private(set) var value = 0

        func add() { value &+= 1 }
    }

    private let number = Number()

    package init() {}

    @inline(never)
    package func change() async {
        await number.add()
    }

    package var total: Int {
        get async { await number.value }
    }
}
