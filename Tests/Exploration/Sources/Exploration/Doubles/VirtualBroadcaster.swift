//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of those who listen to changes: it counts them.
final class ChangeBroadcaster<Value>: @unchecked Sendable {
    // Guarded by `lock`, as in the original, where the line is called under it.
    private var whenListenedTo: ((Bool) -> Void)?
    private(set) var changes: UInt64 = 0
    private let lock = PlatformLock()
    private let id = world.newObject()

    init(whenListenedTo: @escaping (_ isListenedTo: Bool) -> Void) {
        self.whenListenedTo = whenListenedTo
    }
}

extension ChangeBroadcaster {
    struct Delivery {
        func deliver() { world.pass(.run("deliver", 0)) }
    }

    var isFinished: Bool { whenListenedTo == nil }

    /// The first listener comes, or the last one goes.
    func listen(_ isListenedTo: Bool) {
        lock.around { whenListenedTo?(isListenedTo) }
    }

    func record(_ value: Value) -> Delivery {
        lock.around {
            if isFinished { world.fail("the value changes after its listeners were told of the end") }
            change { changes += 1 }
            return Delivery()
        }
    }

    func finish() {
        lock.around {
            if isFinished { world.fail("the listeners are told of the end twice") }
            change { whenListenedTo = nil }
        }
    }

    private func change(_ body: () -> Void) {
        func contents() -> UInt64 { changes << 1 | (isFinished ? 1 : 0) }
        let before = contents()
        body()
        world.objectChanged(id, from: before, to: contents())
    }
}

extension QueueSafeValueError {
    /// The double of the reports of mistakes, which are counted.
    @discardableResult
    func reported(for valueType: any Any.Type, _ command: @autoclosure () -> String) -> QueueSafeValueError {
        self
    }
}
