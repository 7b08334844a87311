//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Says which thread or task waits for which lock or turn in the whole process, so that a wait that would close a circle
/// is found.
///
/// A circle is closed when a wait begins, and never when a lock or a turn is taken, so it is enough to look when a wait
/// begins. A circle that is found is true: every other holder in it is registered, gives nothing back while it waits, and
/// is removed before it goes on.
///
/// A wait is registered only after it has lasted for a while. A wait with a time-out is never registered, because it ends
/// by itself.
final class WaitGraph {
    static let shared = WaitGraph()

    // Threads hold it for moments. Waits for this kind of lock are never registered.
    let mutex = PthreadMutex()

    /// The lock or turn that each thread or task waits for, by the identity of the thread or task. Guarded by `mutex`.
    // There is room for more waits than ever last so long at once, so registering one allocates nothing.
    var waits = [UInt64: Resource](minimumCapacity: 256)
}

// The mutex guards `waits`. A word in it is read only while a wait for the word is registered, and the waiting side keeps
// the word.
extension WaitGraph: @unchecked Sendable {}

// The word is atomic, and the waiting side keeps the object that the word belongs to.
extension WaitGraph.Resource: @unchecked Sendable {}

extension WaitGraph {
    /// A lock or a turn, which one thread or task has at a time. Its word says which one.
    struct Resource {
        /// Whether it is the turn of a command queue, and not a lock of one word.
        let isTurn: Bool
        let word: AtomicWord
        /// The type that the lock is part of, or the type of the value that the turn is for.
        let user: Any.Type

        /// The identity of the thread or task that has the lock or turn, or zero.
        var holder: UInt64 { word.load() & identityBits }

        /// The name for messages.
        var name: String {
            let type = isTurn ? "QueueSafeValue<\(user)>" : "\(user)"
            return "\(type) at 0x\(String(word.address, radix: 16))"
        }
    }

    /// A thread, a task, or a thread in a task that begins to wait. The identity that is missing is 0.
    struct Waiting {
        var thread: UInt64 = 0
        var task: UInt64 = 0

        func has(_ holder: UInt64) -> Bool { holder != 0 && (holder == thread || holder == task) }
    }

    /// Registers a wait.
    ///
    /// - Returns: `nil` if the wait is registered. Otherwise the circle that it would close: all that is waited for, from
    ///   `resource` to something that the waiting side has.
    func begin(for resource: Resource, by waiting: Waiting) -> [Resource]? {
        mutex.around {
            if let circle = circle(from: resource, to: waiting) { return circle }
            if waiting.thread != 0 { waits[waiting.thread] = resource }
            if waiting.task != 0 { waits[waiting.task] = resource }
            return nil
        }
    }

    /// Removes a wait that `begin` registered.
    func end(_ waiting: Waiting) {
        mutex.around {
            if waiting.thread != 0 { waits[waiting.thread] = nil }
            if waiting.task != 0 { waits[waiting.task] = nil }
        }
    }

    /// The path from a resource, through holders that wait, to one that the waiting side has; `nil` if there is none.
    private func circle(from resource: Resource, to waiting: Waiting) -> [Resource]? {
        var path = [resource]
        // A thread that holds the lock it waits for was handed the lock a moment ago.
        if waiting.has(resource.holder) { return resource.isTurn ? path : nil }
        // A holder that has just taken a turn may still be registered. So the path has at most as many steps as there
        // are waits.
        while path.count <= waits.count, let next = waits[path.last!.holder] {
            path.append(next)
            if waiting.has(next.holder) { return path }  // fault: a circle is not seen
        }
        return nil
    }
}
