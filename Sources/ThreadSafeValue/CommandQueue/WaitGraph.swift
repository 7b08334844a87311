//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Which thread or task waits for which turn, in the whole process: shows a circle before it is closed.
///
/// Threads that take several values in different orders may come to wait for each other. A circle is closed by one that
/// begins to wait, never by one that takes a turn, so it is enough to look then. What is found is true: every other
/// holder in the circle is registered as waiting, cannot give anything back while it waits, and cannot leave the
/// graph while it is looked at.
struct WaitGraph: Sendable {
    static let shared = WaitGraph()

    /// The turns that each holder of turns waits for: a thread for one, an async body for one with each task below it. Who waits
    /// keeps the queue of the word alive.
    private let turns = Protected<[UInt64: [Turn]]>([:])

    // A word can be read by any thread at any time.
    private struct Turn: @unchecked Sendable {
        let word: AtomicWord
        var holder: UInt64 { TurnWord(bits: word.load()).holder }
    }
}

extension WaitGraph {
    /// Registers that the calling thread waits for a turn.
    ///
    /// - Returns: `false`, and nothing registered, if the holder of that turn waits, perhaps through others, for a turn
    ///   that the calling thread has, or an async body that it is part of.
    func beginWaiting(for word: AtomicWord) -> Bool {
        begin([TurnWord.currentThread] + (TaskBody.current?.holders ?? []), Turn(word: word))
    }

    /// The calling thread waits for this turn no more.
    func endWaiting(for word: AtomicWord) {
        end([TurnWord.currentThread] + (TaskBody.current?.holders ?? []), Turn(word: word))
    }

    /// As `beginWaiting(for:)`, for a task that is in these bodies.
    func beginAwaiting(_ word: AtomicWord, _ owners: [UInt64]) -> Bool {
        begin(owners, Turn(word: word))
    }

    /// A task that is in these bodies waits for this turn no more.
    func endAwaiting(_ word: AtomicWord, _ owners: [UInt64]) {
        end(owners, Turn(word: word))
    }
}

extension WaitGraph {
    private func begin(_ waiters: [UInt64], _ turn: Turn) -> Bool {
        if waiters.isEmpty { return true }
        return turns.write { turns in
            var seen: Set<UInt64> = []
            var holders = [turn.holder]
            while let holder = holders.popLast() {
                if waiters.contains(holder) { return false }
                // A turn that was just taken may still be waited for by its holder.
                guard seen.insert(holder).inserted, let next = turns[holder] else { continue }
                holders += next.map(\.holder)
            }
            for waiter in waiters { turns[waiter, default: []].append(turn) }
            return true
        }
    }

    private func end(_ waiters: [UInt64], _ turn: Turn) {
        if waiters.isEmpty { return }
        turns.write { turns in
            for waiter in waiters {
                guard let index = turns[waiter]?.firstIndex(where: { unsafe $0.word.storage == turn.word.storage })
                else { continue }
                turns[waiter]?.remove(at: index)
                if turns[waiter]?.isEmpty == true { turns[waiter] = nil }
            }
        }
    }
}
