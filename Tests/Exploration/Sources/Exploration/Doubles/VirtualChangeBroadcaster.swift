//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of those who listen to changes: it counts, and a listener either always waits to be told or never does.
final class ChangeBroadcaster<Value>: @unchecked Sendable {
    // Guarded by `lock`, as in the original, where the queue is called under it.
    private var whenListenedTo: ((Bool) -> Void)?
    private(set) var changes: UInt64 = 0
    private let lock = PlatformLock()
    private let id = world.newObject()

    /// Whether the listener is behind, so that it waits for nothing.
    var isBehind = false

    init(whenListenedTo: @escaping (_ isListenedTo: Bool) -> Void) {
        self.whenListenedTo = whenListenedTo
    }
}

extension ChangeBroadcaster {
    struct Delivery {
        let isAwaited: Bool

        func deliver() {
            world.pass(.run("deliver", 0))
        }
    }

    var isFinished: Bool { whenListenedTo == nil }

    /// The first listener comes, or the last one goes.
    func listen(_ isListenedTo: Bool) {
        lock.around { whenListenedTo?(isListenedTo) }
        world.pass(.run("listen", isListenedTo ? 1 : 0))
    }

    func record(_ value: Value) -> Delivery {
        lock.around {
            if isFinished { world.fail("the value changes after its listeners were told of the end") }
            world.objectChanged(id, from: changes, to: changes + 1)
            changes += 1
            return Delivery(isAwaited: !isBehind)
        }
    }

    func finish() {
        lock.around {
            if isFinished { world.fail("the listeners are told of the end twice") }
            world.objectChanged(id, from: changes, to: .max)
            whenListenedTo = nil
        }
    }
}

// Commands that wait for a condition: no scenario has one.

@usableFromInline
final class ChangeObserver: Sendable {
    init(_ parker: Parker?) {}
}

extension ChangeBroadcaster {
    func observe(_ observer: ChangeObserver) { world.fail("a command waits for a condition") }

    func remove(_ observer: ChangeObserver) { world.fail("a command waits for a condition") }

    func wait(_ observer: ChangeObserver, until deadline: Deadline) { world.fail("a command waits for a condition") }

    func wait(_ observer: ChangeObserver) async { world.fail("a command waits for a condition") }

    func wake(_ observer: ChangeObserver) { world.fail("a command waits for a condition") }
}
