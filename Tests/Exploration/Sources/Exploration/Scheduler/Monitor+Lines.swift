//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What a line holds, and not how it came to that: without it everything is explored too, but states that differ in
// nothing but the past of a line count as different.

extension Monitor {
    /// The value whose line a lock guards, if that lives.
    func value(guardedBy lock: UnsafeMutablePointer<PlatformLock.Storage>) -> Int? {
        unsafe watched.firstIndex { unsafe $0.lock == lock && $0.storage != nil }
    }

    /// A thread takes the lock of a line.
    func takesLock(of value: Int) {
        let lanes = self.lanes(of: value)
        world.current.locks += 1
        world.current.notes.seenLate = 0
        world.current.blocks = lanes.map { ($0, $0.blockNumber) }
    }

    /// A thread gives the lock of a line back.
    ///
    /// - Returns: one number for all that the lock guards.
    func givesLockBack(of value: Int) -> UInt64 {
        let thread = world.current
        thread.lastValue = value
        var sum: UInt64 = 0
        noteOldest(of: value)
        for lane in lanes(of: value) {
            name(lane, of: value)
            if case .dispatched = lane.block,
                !thread.blocks.contains(where: { $0.lane === lane && $0.number == lane.blockNumber })
            {
                // The next that the thread does is to dispatch these.
                thread.owed.append((lane.identity, tag(of: lane, of: value)))
            }
            sum &+= contents(of: lane, of: value)
        }
        thread.blocks = []
        return unsafe watched[value].storage!.withUnsafeMutablePointerToElements { state in
            // Not copied, as that counts references.
            let waiters = unsafe CommandQueueState.waiters(state)
            unsafe waiters.pointee.threads.forEach { command in
                let waiting = world.threads.first { $0.isWaiting(with: command) }!
                surelyWaits(waiting)
                let number = UInt64(waiting.index)
                sum = mix(sum, mix(number << 4 | command.priority.level, World.rounded(command.arrival)))
            }
            sum = unsafe mix(sum, mix(World.rounded(waiters.pointee.lastArrival), UInt64(waiters.pointee.suspensions)))
            // Only a lane that is overdue learns by it.
            if unsafe waiters.pointee.allLanes.contains(where: { $0.isOverdue }) {
                sum = unsafe mix(sum, waiters.pointee.latestGiveUp)
            }
            let successor: UInt64 =
                switch unsafe waiters.pointee.successor {
                case .thread(let command): UInt64(world.threads.first { $0.isWaiting(with: command) }!.index)
                case .lane(let lane): tag(of: lane, of: value)
                case nil: 0
                }
            let hasReference = unsafe state.pointee.reference.bits != 0
            let facts: [Bool] = unsafe [
                waiters.pointee.isObserved, waiters.pointee.bargingDeadline.bits == 0, hasReference,
            ]
            return mix(mix(sum, successor), facts.reduce(1) { $0 << 1 | ($1 ? 1 : 0) })
        }
    }

    /// Notes when the first command of each level came that waits.
    private func noteOldest(of value: Int) {
        var oldest = Array(repeating: UInt64.max, count: 6)
        func note(_ command: PendingCommand) {
            let level = Int(command.priority.level)
            oldest[level] = unsafe min(oldest[level], command.arrival)
        }
        for lane in lanes(of: value) { lane.commands.forEach(note) }
        unsafe watched[value].storage!.withUnsafeMutablePointerToElements { state in
            unsafe CommandQueueState.waiters(state).pointee.threads.forEach(note)
        }
        watched[value].oldest = oldest
    }

    /// When the latest commands came that a thread has submitted, as far as that matters, in one number.
    func latestArrivals(of thread: VirtualThread) -> UInt64 {
        var sum: UInt64 = 0
        for (place, arrival) in thread.latestArrivals where arrivalMatters(arrival, at: place) {
            sum ^= mix(arrival, UInt64(value(ofLine: place.line)!) << 3 | place.level)
        }
        // It has given the lock back, and notes this next.
        guard let index = thread.notes.submitted, let pending = notes[index].pending else { return sum }
        return unsafe sum ^ mix(pending.arrival, 0)
    }

    /// Whether what the submitter of a command may pass depends on when that came: something that waits came before it.
    func arrivalMatters(_ arrival: UInt64, at place: Submitter.Place) -> Bool {
        guard let value = value(ofLine: place.line) else { return false }
        let oldest = watched[value].oldest
        return !oldest.isEmpty && arrival >= oldest[Int(place.level)]
    }

    /// The value that has a line, if that lives.
    func value(ofLine line: UInt) -> Int? {
        watched.firstIndex { $0.line == line && $0.storage != nil }
    }

    private func lanes(of value: Int) -> [Lane] {
        unsafe watched[value].storage!.withUnsafeMutablePointerToElements { unsafe $0.pointee.waiters.allLanes }
    }

    private func contents(of lane: Lane, of value: Int) -> UInt64 {
        let facts = [lane.isOverdue, lane.hasTurn, lane.blockWaits, isSlow(lane)].reduce(1) { $0 << 1 | ($1 ? 1 : 0) }
        let numbers = [lane.granted, lane.blockCount, lane.room, Int(lane.misses)].reduce(UInt64(facts)) {
            mix($0, UInt64(truncatingIfNeeded: $1))
        }
        var sum = mix(tag(of: lane, of: value), mix(lane.keeping(limits), numbers))
        switch lane.block {
        case .none: break
        case .dispatched(let time):
            sum = mix(sum, mix(time, lane.latestReturn > time ? lane.latestReturn : 0))
            let line = unsafe watched[value].storage!.withUnsafeMutablePointerToElements { UInt(bitPattern: $0) }
            for thread in world.threads {
                let inLine = thread.timeInLine(line, since: time)
                if inLine > 0 { sum = mix(sum, mix(UInt64(thread.index), inLine)) }
            }
        case .present(let time, let thread): sum = mix(sum, mix(time, thread))
        }
        lane.commands.forEach { command in
            sum = mix(sum, mix(UInt64(index(of: command)), World.rounded(command.arrival)))
        }
        return sum
    }

    /// The number of a command in a lane. One that was not known before is just being submitted.
    private func index(of command: PendingCommand) -> Int {
        if let known = notes.firstIndex(where: { $0.pending === command }) { return known }
        let index = world.current.notes.submitted!
        notes[index].pending = command
        return index
    }

    /// The latest block of a lane, in one number.
    private func tag(of lane: Lane, of value: Int) -> UInt64 {
        let age = watched[value].age(of: lane)
        return mix(mix(UInt64(lane.identity), UInt64(value)), age << 32 | lane.blockNumber)
    }

    private func name(_ lane: Lane, of value: Int) {
        unsafe lane.grantWord.storage.pointee.role = .grant
        unsafe lane.probe.storage.pointee.role = .probe
        watched[value].name(lane)
    }
}

extension Lane {
    /// How many granted commands the block has not begun, without a step of a thread.
    var grantLeft: Int { unsafe Grant(bits: grantWord.storage.pointee.bits).count }
}

extension Lane {
    /// Whether its block was a probe that has come and gone, without a step of a thread.
    var blockHasLeft: Bool { unsafe probe.storage.pointee.bits == Probe.answered }
}

extension PendingCommand {
    /// What its handle says of it, which revokes the grant of a lane first.
    var stateOfHandle: State {
        guard currentState == .waiting, let lane = unsafe lane, lane.granted > 0 else { return currentState }
        let begun = lane.granted - lane.grantLeft
        var ahead: [PendingCommand] = []
        lane.commands.forEach { ahead.append($0) }
        return ahead.prefix(begun).contains { $0 === self } ? .started : .waiting
    }
}

extension PriorityFIFO {
    /// From the first to the last.
    fileprivate func forEach(_ body: (PendingCommand) -> Void) {
        for list in lists.reversed() {
            var link = unsafe list.first
            while let command = unsafe link?.takeUnretainedValue() {
                body(command)
                unsafe link = command.next
            }
        }
    }
}
