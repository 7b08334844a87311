//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A time at which a target is to be told.
///
/// `@unchecked Sendable`: what changes is guarded by the lock of the heap.
package final class Timer: @unchecked Sendable {
    let time: UInt64
    let target: any TimerTarget
    fileprivate var isOver = false

    package init(_ time: UInt64, _ target: any TimerTarget) {
        self.time = time
        self.target = target
    }
}

/// Timers, of which the first is known: a binary heap. Those that were removed go when they are the first, or the
/// most.
struct TimerHeap {
    // The parent of `index` is at `(index - 1) / 2`, and not later.
    private var timers: [Timer] = []
    private var removedCount = 0
}

extension TimerHeap {
    /// The next timer, or one that was removed.
    var first: Timer? { timers.first }

    mutating func insert(_ timer: Timer) {
        timers.append(timer)
        var index = timers.count - 1
        while index > 0, timers[index].time < timers[(index - 1) / 2].time {
            timers.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func remove(_ timer: Timer) {
        if timer.isOver { return }
        timer.isOver = true
        removedCount += 1
        guard removedCount > 32, removedCount > timers.count / 2 else { return }
        let all = timers
        (timers, removedCount) = ([], 0)
        for timer in all where !timer.isOver { insert(timer) }
    }

    /// Takes out the first timer, if its time has come.
    mutating func takeFirst(dueAt time: UInt64) -> Timer? {
        while let first, first.time <= time {
            removeFirst()
            if first.isOver {
                removedCount -= 1
            } else {
                first.isOver = true
                return first
            }
        }
        return nil
    }

    private mutating func removeFirst() {
        timers.swapAt(0, timers.count - 1)
        timers.removeLast()
        var index = 0
        while 2 * index + 1 < timers.count {
            var child = 2 * index + 1
            if child + 1 < timers.count, timers[child + 1].time < timers[child].time { child += 1 }
            if timers[index].time <= timers[child].time { return }
            timers.swapAt(index, child)
            index = child
        }
    }
}
