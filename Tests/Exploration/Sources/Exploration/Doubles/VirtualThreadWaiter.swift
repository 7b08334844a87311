//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of the command with which each thread waits: one for each virtual thread, for its life.
enum ThreadWaiter {
    static var current: PendingCommand {
        world.current.waiter
    }

    static var known: PendingCommand? { current }

    static var block: Lane? {
        get { world.current.waiter.block }
        set { world.current.waiter.block = newValue }
    }
}

/// No scenario has a closure that a task awaits.
struct ThreadLocal<Object: AnyObject>: Sendable {
    var object: Object? {
        get { nil }
        nonmutating set {}
    }
}
