//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of those who listen to changes: one may, who always waits to be told, and who counts.
final class ChangeHub<Value>: @unchecked Sendable {
    private var whenListenedTo: ((Bool) -> Void)?
    private(set) var changes: UInt64 = 0
    private let id = world.newObject()

    init(whenListenedTo: @escaping (_ isListenedTo: Bool) -> Void) {
        self.whenListenedTo = whenListenedTo
    }
}

extension ChangeHub {
    struct Delivery {
        var isAwaited: Bool { true }

        func deliver() {
            world.pass(.run("deliver", 0))
        }
    }

    var isFinished: Bool { whenListenedTo == nil }

    func listen() {
        whenListenedTo?(true)
    }

    func record(_ value: Value) -> Delivery {
        if isFinished { world.fail("the value changes after those who listen were told of the end") }
        world.objectChanged(id, from: changes, to: changes + 1)
        changes += 1
        return Delivery()
    }

    func finish() {
        if isFinished { world.fail("those who listen are told of the end twice") }
        world.objectChanged(id, from: changes, to: .max)
        whenListenedTo = nil
    }
}
