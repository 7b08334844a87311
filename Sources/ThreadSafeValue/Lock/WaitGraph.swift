//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Which thread or async body waits for which lock or turn, in the whole process: shows a circle before it is closed for good.
///
/// Threads that take several values in different orders may come to wait for each other. A circle is closed by one that
/// begins to wait, never by one that takes a lock or a turn, so it is enough to look then. What is found is true: every other
/// holder in the circle is registered as waiting, cannot give anything back while it waits, and cannot leave the
/// graph while it is looked at.
///
/// Only waits that have lasted for a while come here, and none that ends by itself: it is in no circle for ever.
final class WaitGraph {
    static let shared = WaitGraph()

    // Held for moments. Not of a kind whose waits stand in here.
    let mutex = PthreadMutex()

    // Guarded by `mutex`.
    var waits = Waits()
}

// See `waits`. A word in it is read only while a wait for it is registered, and who waits keeps it.
extension WaitGraph: @unchecked Sendable {}

extension WaitGraph {
    /// Something that one has at a time, as its word tells.
    struct Resource {
        enum Kind {
            /// A lock of one word.
            case lock
            /// The turn of a command queue.
            case turn
        }

        let kind: Kind
        let word: AtomicWord
        /// What the lock is part of, or the value that the turn is for.
        let user: Any.Type
    }

    /// One wait of a thread, or of an async body with a task below it.
    struct Wait {
        let waiter: UInt64
        let resource: Resource
        /// The last search that came by.
        var search: UInt64 = 0
    }

    struct Waits {
        // Room for as many as hardly ever wait so long, so that to register one allocates nothing.
        var all: [Wait] = {
            var all: [Wait] = []
            all.reserveCapacity(256)
            return all
        }()

        var search: UInt64 = 0
    }
}

extension WaitGraph {
    /// A thread as a holder, in the form that turns have, in which async bodies differ from threads.
    static func holder(of thread: UInt64) -> UInt64 { thread << 4 }
}

extension WaitGraph.Resource {
    /// The thread or async body that has it, or zero.
    var holder: UInt64 {
        let bits = word.load()
        // Below the holder stands what is about those who wait: in four bits of a lock, in eight of a turn.
        return switch kind {
        case .lock: WaitGraph.holder(of: bits & ~0xF)
        case .turn: bits & ~0xFF
        }
    }

    /// How a message names it.
    var name: String {
        let type = kind == .turn ? "QueueSafeValue<\(user)>" : "\(user)"
        return "\(type) at 0x\(String(word.address, radix: 16))"
    }
}

extension WaitGraph {
    /// Registers that a thread, or a task, waits.
    ///
    /// - Parameters:
    ///   - resource: what for.
    ///   - thread: the thread that waits, as a holder; 0 if only a task does.
    ///   - body: the innermost async body that it is part of.
    /// - Returns: `nil`; or the circle, and nothing registered, if the holder of that resource waits, perhaps through others,
    ///   for something that the thread has, or one of the bodies: all that is waited for, from `resource` on.
    func begin(for resource: Resource, thread: UInt64, body: TaskBody?) -> [Resource]? {
        if thread == 0, body == nil { return nil }
        return mutex.around {
            waits.search += 1
            let circle = waits.circle(from: resource, to: thread, or: body)
            // A thread that has the very lock it waits for was just handed it.
            if let circle, circle.count > 1 || resource.kind == .turn { return circle }
            if thread != 0 { waits.all.append(Wait(waiter: thread, resource: resource)) }
            var body = body
            while let next = body {
                waits.all.append(Wait(waiter: next.holder, resource: resource))
                body = next.outer
            }
            return nil
        }
    }

    /// What `begin` registered waits for this no more.
    func end(for resource: Resource, thread: UInt64, body: TaskBody?) {
        if thread == 0, body == nil { return }
        mutex.around {
            if thread != 0 { waits.remove(thread, resource) }
            var body = body
            while let next = body {
                waits.remove(next.holder, resource)
                body = next.outer
            }
        }
    }
}

extension WaitGraph.Waits {
    /// The way from a resource to one that this thread or body has, through holders that wait, if there is one.
    fileprivate mutating func circle(
        from resource: WaitGraph.Resource,
        to thread: UInt64,
        or body: TaskBody?
    ) -> [WaitGraph.Resource]? {
        let holder = resource.holder
        if holder == 0 { return nil }
        if holder == thread || body?.isPart(of: holder) == true { return [resource] }
        for index in all.indices where all[index].waiter == holder && all[index].search != search {
            // What was just taken may still be waited for by its holder, so each wait is followed once.
            all[index].search = search
            if let rest = circle(from: all[index].resource, to: thread, or: body) { return [resource] + rest }
        }
        return nil
    }

    fileprivate mutating func remove(_ waiter: UInt64, _ resource: WaitGraph.Resource) {
        let index = all.firstIndex { $0.waiter == waiter && $0.resource.word.address == resource.word.address }
        guard let index else { return }
        all.swapAt(index, all.count - 1)
        all.removeLast()
    }
}
