//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Which thread or async body waits for which lock or turn, in the whole process: shows a circle before it is closed
/// for good.
///
/// Threads that take several values in different orders may come to wait for each other. A circle is closed by one
/// that begins to wait, never by one that takes a lock or a turn, so it is enough to look then. What is found is true:
/// every other holder in the circle is registered as waiting, cannot give anything back while it waits, and cannot
/// leave the graph while it is looked at. Whoever cancels a wait takes it out before the waiting thread can go on.
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

    /// What a thread waits for, or an async body with tasks below it.
    struct Wait {
        let resource: Resource
        /// How many tasks below the body wait for that.
        var count = 1
    }

    /// All waits, by who waits. Each has a first one, and a body may have others.
    struct Waits {
        struct Entry {
            var first: Wait
            var others: [Wait] = []
            /// The innermost async body that a thread which waits is part of.
            var body: TaskBody?
            /// The last search that came by.
            var search: UInt64 = 0
        }

        // Room for as many as hardly ever wait so long, so that to register one allocates nothing.
        var entries = [UInt64: Entry](minimumCapacity: 256)

        var search: UInt64 = 0
    }
}

// The word is atomic, and whoever waits for it keeps what it belongs to.
extension WaitGraph.Resource: @unchecked Sendable {}

extension WaitGraph.Resource {
    /// The thread or async body that has it, or zero.
    var holder: UInt64 { word.load() & TaskBody.holders }

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
    ///   - resource: What for.
    ///   - thread: The thread that waits, as a holder; 0 if only a task does.
    ///   - body: The innermost async body that it is part of.
    ///   - isWaiting: Whether it still does; called under the lock of the graph. If not, nothing is registered.
    /// - Returns: `nil`; or the circle, and nothing registered, if the holder of that resource waits, perhaps through
    ///   others, for something that the thread has, or one of the bodies: all that is waited for, from `resource` on.
    func begin(
        for resource: Resource,
        thread: UInt64,
        body: TaskBody?,
        if isWaiting: () -> Bool = { true }
    ) -> [Resource]? {
        if thread == 0, body == nil { return nil }
        return mutex.around {
            if !isWaiting() { return nil }
            let circle = waits.circle(from: resource, to: thread, or: body)
            // A thread that has the very lock it waits for was just handed it.
            if let circle, circle.count > 1 || resource.kind == .turn { return circle }
            if thread != 0 { waits.insert(thread, resource, body) }
            var body = body
            while let next = body {
                waits.insert(next.holder, resource)
                body = next.outer
            }
            return nil
        }
    }

    /// What `begin` registered waits for this no more.
    func end(for resource: Resource, thread: UInt64, body: TaskBody?) {
        if thread == 0, body == nil { return }
        mutex.around {
            // It may have been ended by another thread, which cancelled it.
            if thread == 0 || waits.remove(thread, resource) { waits.remove(body, resource) }
        }
    }

    /// A thread waits no more, though it may not know before it runs.
    ///
    /// - Parameters:
    ///   - resource: What it waited for.
    ///   - thread: The thread, as a holder.
    ///   - stop: Called under the lock of the graph: from then on it does not wait.
    func cancel(for resource: Resource, thread: UInt64, _ stop: () -> Void) {
        mutex.around {
            stop()
            let body = waits.entries[thread]?.body
            if waits.remove(thread, resource) { waits.remove(body, resource) }
        }
    }
}

extension WaitGraph.Waits {
    /// The way from a resource to one that this thread or body has, through holders that wait, if there is one.
    ///
    /// What was just taken may still be waited for by its holder, so each holder is followed once.
    fileprivate mutating func circle(
        from resource: WaitGraph.Resource,
        to thread: UInt64,
        or body: TaskBody?
    ) -> [WaitGraph.Resource]? {
        // Nothing is allocated for a holder that does not wait, as most.
        let holder = resource.holder
        if holder == 0 || holder != thread && entries[holder] == nil && body?.isPart(of: holder) != true { return nil }
        search += 1
        var path: [WaitGraph.Resource] = []
        var open = [(resource: resource, depth: 0)]
        while let (next, depth) = open.popLast() {
            path.removeLast(path.count - depth)
            path.append(next)
            let holder = next.holder
            if holder == 0 { continue }
            if holder == thread || body?.isPart(of: holder) == true { return path }
            guard let index = entries.index(forKey: holder), entries.values[index].search != search else { continue }
            entries.values[index].search = search
            open.append((entries.values[index].first.resource, depth + 1))
            for other in entries.values[index].others { open.append((other.resource, depth + 1)) }
        }
        return nil
    }

    fileprivate mutating func insert(_ waiter: UInt64, _ resource: WaitGraph.Resource, _ body: TaskBody? = nil) {
        guard let index = entries.index(forKey: waiter) else {
            entries[waiter] = Entry(first: WaitGraph.Wait(resource: resource), body: body)
            return
        }
        if entries.values[index].first.resource.word.address == resource.word.address {
            entries.values[index].first.count += 1
        } else if let other = entries.values[index].others.firstIndex(of: resource) {
            entries.values[index].others[other].count += 1
        } else {
            entries.values[index].others.append(WaitGraph.Wait(resource: resource))
        }
    }

    /// Takes out a wait of a body, and of those that it is in.
    fileprivate mutating func remove(_ body: TaskBody?, _ resource: WaitGraph.Resource) {
        var body = body
        while let next = body {
            remove(next.holder, resource)
            body = next.outer
        }
    }

    /// Takes out a wait.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    fileprivate mutating func remove(_ waiter: UInt64, _ resource: WaitGraph.Resource) -> Bool {
        guard let index = entries.index(forKey: waiter) else { return false }
        if entries.values[index].first.resource.word.address == resource.word.address {
            entries.values[index].first.count -= 1
            if entries.values[index].first.count > 0 { return true }
            if let last = entries.values[index].others.popLast() {
                entries.values[index].first = last
            } else {
                entries.remove(at: index)
            }
        } else if let other = entries.values[index].others.firstIndex(of: resource) {
            entries.values[index].others[other].count -= 1
            if entries.values[index].others[other].count == 0 { entries.values[index].others.remove(at: other) }
        } else {
            return false
        }
        return true
    }
}

extension [WaitGraph.Wait] {
    fileprivate func firstIndex(of resource: WaitGraph.Resource) -> Int? {
        firstIndex { $0.resource.word.address == resource.word.address }
    }
}
