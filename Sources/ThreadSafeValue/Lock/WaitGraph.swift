//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Which thread or task waits for which lock or turn, in the whole process: shows a circle before it is closed for
/// good.
///
/// A circle is closed by a wait that begins, never by a lock or a turn that is taken, so it is enough to look then.
/// What is found is true: every other holder in the circle is registered, cannot give anything back while it waits,
/// and is taken out before it goes on.
///
/// Only waits that have lasted for a while come here, and none that ends by itself: it is in no circle for ever.
final class WaitGraph {
    static let shared = WaitGraph()

    // Held for moments. Not of a kind whose waits stand in here.
    let mutex = PthreadMutex()

    /// What each thread or task waits for, by its identity. Guarded by `mutex`.
    // Room for as many as hardly ever wait so long, so that to register one allocates nothing.
    var waits = [UInt64: Resource](minimumCapacity: 256)
}

// See `waits`. A word in it is read only while a wait for it is registered, and the waiting side keeps it.
extension WaitGraph: @unchecked Sendable {}

extension WaitGraph {
    /// Something that one thread or task has at a time, as its word tells.
    struct Resource {
        /// Whether it is the turn of a command queue, and not a lock of one word.
        let isTurn: Bool
        let word: AtomicWord
        /// What the lock is part of, or the value that the turn is for.
        let user: Any.Type
    }

    /// What begins to wait: a thread, a task, or a thread in a task. A part that is not there is 0.
    struct Waiting {
        var thread: UInt64 = 0
        var task: UInt64 = 0

        func has(_ holder: UInt64) -> Bool { holder != 0 && (holder == thread || holder == task) }
    }
}

// The word is atomic, and the waiting side keeps what it belongs to.
extension WaitGraph.Resource: @unchecked Sendable {}

extension WaitGraph.Resource {
    /// The thread or task that has it, or zero.
    var holder: UInt64 { word.load() & identityBits }

    /// How a message names it.
    var name: String {
        let type = isTurn ? "QueueSafeValue<\(user)>" : "\(user)"
        return "\(type) at 0x\(String(word.address, radix: 16))"
    }
}

extension WaitGraph {
    /// Registers a wait.
    ///
    /// - Returns: `nil`; or the circle, and nothing registered, if the holder of the resource waits, perhaps through
    ///   others, for something that the waiting side has: all that is waited for, from `resource` on.
    func begin(for resource: Resource, by waiting: Waiting) -> [Resource]? {
        mutex.around {
            if let circle = circle(from: resource, to: waiting) { return circle }
            if waiting.thread != 0 { waits[waiting.thread] = resource }
            if waiting.task != 0 { waits[waiting.task] = resource }
            return nil
        }
    }

    /// What `begin` registered waits no more.
    func end(_ waiting: Waiting) {
        mutex.around {
            if waiting.thread != 0 { waits[waiting.thread] = nil }
            if waiting.task != 0 { waits[waiting.task] = nil }
        }
    }

    /// The way from a resource to one that the waiting side has, through holders that wait, if there is one.
    private func circle(from resource: Resource, to waiting: Waiting) -> [Resource]? {
        var path = [resource]
        // A thread that has the very lock it waits for was just handed it.
        if waiting.has(resource.holder) { return resource.isTurn ? path : nil }
        // One that was just handed a turn may still be registered for it: each holder is followed once.
        while path.count <= waits.count, let next = waits[path.last!.holder] {
            path.append(next)
            if waiting.has(next.holder) { return path }  // fault: a circle is not seen
        }
        return nil
    }
}
