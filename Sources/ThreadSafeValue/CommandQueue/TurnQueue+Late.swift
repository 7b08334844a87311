//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// Rule 5: what does not come in time loses its place until it comes.

extension TurnQueue {
    /// Sets the timer, if something stands in line beside a lane, or commands behind a block that runs. Under the lock.
    ///
    /// Invariant (no turn is held for ever by what does not run): not only if a lane is the front, as one may have been
    /// handed the turn, and a more urgent waiter have come since.
    func watch(_ line: inout Line) {
        guard !line.timerRuns, line.suspensions == 0, line.waiters.laneCount > 0 else { return }
        guard line.waiters.count > 1 || line.front?.lane.map({ $0.hasBlock && $0.state.sentTime == 0 }) == true else {
            return
        }
        line.timerRuns = true
        LibraryTimers.call(after: HandoffPolicy.late) { self.lookForLate() }
    }

    private func lookForLate() {
        let newBlock = update { line, holder -> Sent? in
            line.timerRuns = false
            if line.isOver || line.suspensions > 0 { return nil }
            let time = now()
            for waiter in line.waiters.all where waiter.state.sentTime != 0 && time >= waiter.state.sentTime + waiter.state.patience {
                makeLate(waiter, &line, &holder)
            }
            let newBlock = line.front?.lane.flatMap { replaceBlock(of: $0, &line, &holder) }
            watch(&line)
            return newBlock
        }
        newBlock?.start()
    }

    /// It has no place until it comes, and not the turn that it was handed. Under the lock.
    private func makeLate(_ waiter: Waiter, _ line: inout Line, _ holder: inout UInt64?) {
        if waiter.hasTurn { holder = 0 }
        waiter.hasTurn = false
        waiter.state.isOwed = false
        waiter.state.isLate = true
        line.waiters.remove(waiter)
    }

    /// Rule 6: the block of the front has told one and the same caller since the last look, so another one does the
    /// rest. Under the lock.
    private func replaceBlock(of lane: Lane, _ line: inout Line, _ holder: inout UInt64?) -> Sent? {
        guard lane.hasBlock, lane.state.sentTime == 0 else { return nil }
        let tells = lane.tells.load()
        defer { lane.tellsAtLook = tells }
        // With the turn, as the block takes that without the lock.
        guard tells & 1 == 1, tells == lane.tellsAtLook, takeTurn(line, for: lane, as: lane.identity) else { return nil }
        holder = 0
        lane.commands.putBatchBack()
        line.place(lane)
        lane.state.isSent = true
        return startBlock(lane)
    }

    /// Lanes that cannot come while the calling thread waits do not stand before it. Under the lock.
    ///
    /// - Returns: A block to dispatch.
    func passLanesBelow(
        _ thread: ThreadWaiter,
        isOnMainQueue: Bool,
        _ line: inout Line,
        _ holder: inout UInt64?
    ) -> Sent? {
        for lane in thread.blocks where lane.turns === self { makeLate(lane, &line, &holder) }
        guard isOnMainQueue else { return nil }
        line.mainThreadWaits = true
        guard let lane = line.lanes.lane(ofQueue: DispatchQueue.main.identity), lane.isInLine else { return nil }
        makeLate(lane, &line, &holder)
        return lane.hasBlock ? nil : startBlock(lane)
    }

    /// Whether the main queue does not start, as the main thread waits. Under the lock.
    func isBelowMainThread(_ lane: Lane, _ line: borrowing Line) -> Bool {
        guard line.mainThreadWaits, lane.targetIdentity == DispatchQueue.main.identity else { return false }
        lane.state.isLate = true
        return true
    }
}
