//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// Rule 5: what does not come in time loses its place until it comes.

extension TurnQueue {
    /// Sets the timer, if something stands in line beside a lane, or commands behind a block that runs. Under the lock,
    /// at each change of the line.
    ///
    /// Invariant (no turn is held for ever by what does not run): not only if a lane is the front, as one may have been
    /// handed the turn, and a more urgent waiter have come since.
    func watch(_ line: inout Line) {
        guard !line.timerRuns, line.suspensions == 0, line.waiters.elements.count > line.threadCount else { return }
        guard line.waiters.elements.count > 1 || line.front?.lane?.tells != nil else { return }
        line.timerRuns = true
        LibraryTimers.call(after: HandoffPolicy.late) { self.lookForLate() }
    }

    private func lookForLate() {
        update { line in
            line.timerRuns = false
            if line.isOver || line.suspensions > 0 { return }
            let time = now()
            for waiter in line.waiters.elements where time >= waiter.state.dueTime { makeLate(waiter, &line) }
            if let lane = line.front?.lane { lookForLongTell(of: lane, &line) }
        }
    }

    /// It has no place until it comes, and not the turn that it was handed. Under the lock.
    private func makeLate(_ waiter: Waiter, _ line: inout Line) {
        if wasHanded(waiter) { line.effects.holder = 0 }
        (waiter.state.isOwed, waiter.state.isLate) = (false, true)
        line.remove(waiter)
    }

    /// Rule 6: if the block of the front has told one and the same caller since the last look, another one does the
    /// rest. Under the lock.
    private func lookForLongTell(of lane: Lane, _ line: inout Line) {
        guard let tells = lane.tells?.word.load() else { return }
        defer { lane.tellsAtLook = tells }
        // With the turn, as the block takes that without the lock.
        guard tells & 1 == 1, tells == lane.tellsAtLook, takeTurn(line, for: lane, as: lane.identity) else { return }
        line.effects.holder = 0
        replaceBlock(of: lane, &line)
    }

    /// Another block does the rest of the lane's commands, so that other work of the queue gets a chance. Under the
    /// lock.
    func replaceBlock(of lane: Lane, _ line: inout Line) {
        lane.putBatchBack()
        line.place(lane)
        startBlock(lane, &line)
    }

    /// Lanes that cannot come while the calling thread waits do not stand before it. Under the lock.
    func passLanesBelow(_ thread: ThreadWaiter, isOnMainQueue: Bool, _ line: inout Line) {
        // Not those whose block was replaced. The one that is below may tell for long: another block does the rest.
        for (lane, block) in thread.blocks where lane.turns === self && lane.block == block && lane.state.isSent {
            replaceBlock(of: lane, &line)
            makeLate(lane, &line)
        }
        if isOnMainQueue { line.targetOfMainThread = DispatchQueue.main.identity }
        guard let target = line.targetOfMainThread, let lane = line.lanes[target], lane.isInLine else { return }
        makeLate(lane, &line)
        if !lane.state.isSent { startBlock(lane, &line) }
    }
}
