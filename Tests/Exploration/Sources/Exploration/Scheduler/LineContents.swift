//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// What a line holds, in one number, and not how it came to that: with the past of a line in it, everything would be
// explored too, but hardly any two states would be the same.

extension Line {
    /// All that the lock guards.
    var contents: UInt64 {
        var sum = mix(fairness.latest, UInt64(suspensions))
        sum = mix(sum, bits(isListenedTo, isOver, timerRuns))
        for (target, own) in owns { sum &+= mix(UInt64(target), UInt64(own.count)) }
        sum = mix(sum, UInt64(acceptedCount))
        // Times of arrival count only as far as they tell who came first.
        var arrivals: [(level: UInt64, time: UInt64, id: UInt64)] = []
        for waiter in waiters.elements {
            arrivals.append((waiter.state.priority.rawValue, waiter.state.arrival, waiter.id))
        }
        for lane in lanes.values {
            sum &+= lane.contents
            for command in unsafe lane.commands.all {
                arrivals.append((command.priority.rawValue, command.members.arrival, command.id))
            }
        }
        arrivals.sort { ($0.level, $0.time, $0.id) < ($1.level, $1.time, $1.id) }
        for arrival in arrivals { sum = mix(sum, mix(arrival.level, arrival.id)) }
        for waiter in watchers.elements { sum = mix(sum, waiter?.id ?? 1) }
        for waiter in lateTasks.elements { sum = mix(sum, waiter?.id ?? 2) }
        if let latest = latestLane { sum = mix(sum, latest.targetID) }
        return sum
    }
}

extension Lane {
    fileprivate var targetID: UInt64 { target.id }

    fileprivate var contents: UInt64 {
        var sum = mix(id, mix(stateContents, UInt64(commands.cancelledCount) << 1 | (commands.isUnsorted ? 1 : 0)))
        guard let running else { return sum }
        sum = mix(sum, mix(running.id, bits(running.reorderings == turns.reorderings.count)))
        for command in running.batch.elements {
            sum = unsafe mix(sum, command.id << 1 | (command.members.arrival < running.bound ? 1 : 0))
        }
        return sum
    }
}

extension BlockRun {
    /// The same in every execution: that of its dispatch; 0 before.
    var id: UInt64 { world.blocks[ObjectIdentifier(self)] ?? 0 }
}

extension PendingCommand {
    fileprivate var id: UInt64 { unsafe word.storage.pointee.id }
}

extension Waiter {
    /// The same in every execution, as the address of a target queue is not.
    var id: UInt64 { lane?.targetID ?? identity }

    /// All but its arrival.
    var stateContents: UInt64 {
        let flags = bits(state.needsNoWake, state.isOwed, state.isRegistered, state.refusal != nil)
        let place: UInt64 =
            switch state.standing {
            case .away: 0
            case .inLine: 1
            case .watching: 2
            case .late: 3
            }
        let times = mix(mix(state.dueTime, state.sentTime), mix(state.patience.time, state.patience.delay))
        return mix(mix(state.priority.rawValue, flags << 2 | place), mix(times, UInt64(state.own?.identity ?? 0)))
    }
}

private func bits(_ flags: Bool...) -> UInt64 {
    flags.reduce(1) { $0 << 1 | ($1 ? 1 : 0) }
}
