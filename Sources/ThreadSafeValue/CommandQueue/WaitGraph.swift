//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Which thread or async body waits for which turn, in the whole process: shows a circle before it is closed for good.
///
/// Threads that take several values in different orders may come to wait for each other. A circle is closed by one that
/// begins to wait, never by one that takes a turn, so it is enough to look then. What is found is true: every other
/// holder in the circle is registered as waiting, cannot give anything back while it waits, and cannot leave the
/// graph while it is looked at.
struct WaitGraph: Sendable {
    static let shared = WaitGraph()

    /// A turn that a thread waits for, or an async body with a task below it. Who waits keeps the queue of the word alive.
    @safe
    struct Wait: @unchecked Sendable {
        let waiter: UInt64
        let word: AtomicWord
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

    let waits = Protected(Waits())
}

extension WaitGraph {
    /// Registers that a thread, or a task, waits for a turn.
    ///
    /// - Parameters:
    ///   - word: the word of the turn.
    ///   - thread: the thread that waits; 0 if only a task does.
    ///   - body: the innermost async body that it is part of.
    /// - Returns: `false`, and nothing registered, if the holder of that turn waits, perhaps through others, for a turn
    ///   that the thread has, or one of the bodies.
    func begin(for word: AtomicWord, thread: UInt64, body: TaskBody?) -> Bool {
        if thread == 0, body == nil { return true }
        return waits.write { waits in
            waits.search += 1
            if waits.leads(from: word, to: thread, or: body) { return false }
            if thread != 0 { waits.all.append(Wait(waiter: thread, word: word)) }
            var body = body
            while let next = body {
                waits.all.append(Wait(waiter: next.holder, word: word))
                body = next.outer
            }
            return true
        }
    }

    /// What `begin` registered waits for this turn no more.
    func end(for word: AtomicWord, thread: UInt64, body: TaskBody?) {
        if thread == 0, body == nil { return }
        waits.write { waits in
            if thread != 0 { waits.remove(thread, word) }
            var body = body
            while let next = body {
                waits.remove(next.holder, word)
                body = next.outer
            }
        }
    }
}

extension WaitGraph.Waits {
    /// Whether the holder of a turn is this thread or body, or waits for a turn that leads there.
    fileprivate mutating func leads(from word: AtomicWord, to thread: UInt64, or body: TaskBody?) -> Bool {
        let holder = TurnWord(bits: word.load()).holder
        if holder == 0 { return false }
        if holder == thread || body?.isPart(of: holder) == true { return true }
        for index in all.indices where all[index].waiter == holder && all[index].search != search {
            // A turn that was just taken may still be waited for by its holder, so each wait is followed once.
            all[index].search = search
            if leads(from: all[index].word, to: thread, or: body) { return true }
        }
        return false
    }

    fileprivate mutating func remove(_ waiter: UInt64, _ word: AtomicWord) {
        let index = all.firstIndex { unsafe $0.waiter == waiter && $0.word.storage == word.storage }
        if let index { all.remove(at: index) }
    }
}
