//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

package import Dispatch

/// Who waits for the turn, in which order, and who was promised it: the decisions of the command queue.
///
/// A pure struct without locks or atomics. `CommandQueue` calls it under its lock, writes the summary (`best`,
/// `promised`) to the turn word, and carries out the `Errands` after the lock is free.
///
/// Invariants, whenever the lock is free:
/// - The promise is to the place of `best`, or to nobody.
/// - If the turn is free and somebody waits, the promise is to somebody, who is on the way.
/// - While a lane is promised the turn and something else waits, the timer runs.
package struct WaitingLine {
    /// Whoever is on the way to take the turn. It does not hold it: a better command that comes first may.
    package enum Promise {
        case thread(PendingCommand)
        case lane(Lane)
    }

    /// What is to be done once the lock is free.
    package struct Errands {
        package var wake: Parker?
        package var send: Lane?
        package var timer: UInt64?
        package init() {}
    }

    /// What is known of a level of priority.
    private struct Level {
        /// How many commands of higher levels have begun while the count was kept.
        var overtakings: UInt32 = 0

        /// Until when newcomers might pass somebody, the last time that they did.
        var passingEnd: UInt64 = 0
    }

    private let patience: Patience
    private var threads = PriorityFIFO()
    private var lanes: [Lane] = []
    private var lastArrival: UInt64 = 0
    private var timerIsRunning = false

    /// The thread that was promised the turn is awake and looks for it.
    private var promisedIsHere = false

    /// A lane has the turn and commands that were taken out of the line, which it may give back.
    private var runIsOut = false

    private var levels: [Level]

    /// How many calls of `suspend` no `resume` has answered yet. While there are any, nobody is promised the turn.
    var suspensions = 0

    /// Those who listen to the changes of the value, and whether there are any.
    var listeners: (any ValueListeners)?
    var isObserved = false

    package private(set) var promised: Promise? {
        didSet { promisedIsHere = false }
    }

    package init(patience: Patience) {
        self.patience = patience
        levels = Array(repeating: Level(), count: Int(CommandPriority.highest.level) + 1)
    }
}

extension WaitingLine {
    var isSuspended: Bool { suspensions > 0 }

    /// The value changes no more.
    mutating func endListening() -> (any ValueListeners)? {
        defer { (listeners, isObserved) = (nil, false) }
        return listeners
    }

    /// The command whose turn is next. O(number of target queues that have commands), whatever the number of commands.
    package var best: PendingCommand? {
        best(except: nil)
    }

    /// Until when newcomers may pass `best`.
    ///
    /// Whoever waits is passed for so long and no longer, from the first time on. Nobody is passed while a thread that was
    /// woken looks for the turn, or while a run is out: the rest of it may come back, and is older.
    ///
    /// - Parameters:
    ///   - best: the first in line.
    ///   - bound: the one that holds so far, perhaps set by a newcomer.
    /// - Returns: the bound that holds from now on.
    package mutating func passingBound(of best: PendingCommand?, after bound: PassingBound) -> PassingBound {
        if !bound.isUnset { levels[bound.level].passingEnd = max(levels[bound.level].passingEnd, bound.time) }
        guard let best, !runIsOut, !promisedIsHere, patience.overtakings == nil else { return .never }
        let end = levels[Int(best.priority.level)].passingEnd
        // Nobody has been passed who came after the last time that somebody was.
        return unsafe best.arrival < end ? PassingBound(best.priority, until: end) : .unset(best.priority)
    }

    /// Whether the block of this lane is the one on the way to take the turn.
    func isPromised(to lane: Lane) -> Bool {
        if case .lane(let promised) = promised { promised === lane } else { false }
    }

    /// Whether a lane that has run so many commands in one go may run another.
    package func mayGoOn(served: Int) -> Bool {
        served < patience.batch
    }

    /// The lane for a target queue, if it has one.
    package func lane(for target: DispatchQueue) -> Lane? {
        for lane in lanes where lane.serves(target) { return lane }
        return nil
    }

    package mutating func add(_ lane: Lane) -> Lane {
        lanes.append(lane)
        return lane
    }

    /// Puts a command at the end of the line, behind all of its priority.
    package mutating func append(_ command: PendingCommand) {
        if patience.overtakings != nil {
            // Those that are there already go before it anyway.
            let before = CommandPriority.allCases.filter { $0 > command.priority }
            let ahead = before.reduce(0) { $0 + count(of: $1) }
            unsafe command.overtakingBase = levels[Int(command.priority.level)].overtakings &+ UInt32(ahead)
        }
        guard let lane = unsafe command.lane else {
            command.append(at: nextArrival(now()))
            return threads.append(command)
        }
        // In a backlog the clock is not asked: nobody is to pass a command that old anyway.
        command.append(at: nextArrival(lane.isEmpty ? now() : 0))
        lane.append(command)
    }

    /// A command of a priority begins: those of lower ones are overtaken.
    mutating func begin(_ priority: CommandPriority) {
        guard patience.overtakings != nil else { return }
        for level in 0..<Int(priority.level) { levels[level].overtakings &+= 1 }
    }

    /// Takes a command out of the line.
    package mutating func remove(_ command: PendingCommand) {
        if let lane = unsafe command.lane {
            lane.remove(command)
            removeIfIdle(lane)
        } else {
            threads.remove(command)
        }
    }

    /// Takes a command of a target queue out for good, unless it has begun.
    ///
    /// - Returns: where it would have run and the queue whose line must be settled then, or `nil` if it is too late.
    mutating func cancel(_ command: PendingCommand) -> (target: DispatchQueue, queue: (any LaneOwner)?)? {
        guard command.cancel(), let lane = unsafe command.lane else { return nil }
        let answer = (lane.target, lane.owner)
        if unsafe !command.wasInRun { remove(command) }
        return answer
    }

    /// How many commands of a priority wait in line.
    package func count(of priority: CommandPriority) -> Int {
        lanes.reduce(threads.count(of: priority)) { count, lane in count + lane.count(of: priority) }
    }

    /// How many commands wait in line.
    package var count: Int { threads.count + laneCount }

    /// Whether nobody waits, also in no lane that is late and has no place in line.
    var isEmpty: Bool { threads.isEmpty && lanes.allSatisfy(\.isEmpty) }

    /// How many commands of target queues wait in line.
    var laneCount: Int { lanes.reduce(0) { count, lane in count + lane.count } }

    /// Takes out the commands of a lane that nobody else goes before: its first, which is the best of all, and those behind
    /// it, up to one that ends the run.
    package mutating func takeRun(of lane: Lane) -> CommandRun {
        guard patience.overtakings == nil else { return takeOne(of: lane) }
        let rival = best(except: lane)
        var isLast = lane.first?.endsRun ?? true
        let run = lane.removeRun { command, count in
            guard !isLast, count < patience.batch, rival.map(command.precedes) ?? true else { return false }
            isLast = command.endsRun
            return true
        }
        lane.isServed = !isLast
        runIsOut = !isLast
        removeIfIdle(lane)
        return run
    }

    /// As `takeRun`, but one at a time, as each may let another be overtaken often enough; the best need not be the first.
    private mutating func takeOne(of lane: Lane) -> CommandRun {
        var run = CommandRun()
        guard let best, best.runs(in: lane) else { return run }
        begin(best.priority)
        lane.isServed = !best.endsRun
        best.becomePartOfRun()
        lane.remove(best)
        run.append(best)
        removeIfIdle(lane)
        return run
    }

    /// Gives the rest of a run its places in line again.
    package mutating func putBack(_ run: inout CommandRun, to lane: Lane) {
        runIsOut = false
        guard !run.isEmpty else { return }
        if !lanes.contains(where: { $0 === lane }) { lanes.append(lane) }
        lane.prepend(&run)
    }

    /// A lane's block has done its work, and leaves or looks whether more comes.
    package mutating func left(_ lane: Lane, staying: Bool) {
        lane.isServed = false
        if staying { lane.blockSent = now() }
        removeIfIdle(lane)
    }

    /// A woken thread is there and looks for the turn, if it is still promised to it.
    package mutating func keepsPromise(to command: PendingCommand) -> Bool {
        promisedIsHere = promised.isTo(command) && !isSuspended
        return promisedIsHere
    }

    /// A woken thread is there: it is not on the way any more.
    package mutating func arrived(_ command: PendingCommand) {
        if case .thread(let other) = promised, other === command { promised = nil }
    }

    /// A lane's block is there, on its target queue: the lane has its place in line again.
    package mutating func arrived(_ lane: Lane) {
        lane.blockSent = nil
        lane.isOverdue = false
        if isPromised(to: lane) { promised = nil }
        removeIfIdle(lane)
    }

    /// The timer that `Errands` asked for has fired.
    package mutating func timerFired() {
        timerIsRunning = false
    }

    /// Makes the invariants true again, after any change, for a turn that is free or not.
    ///
    /// - Returns: `best`.
    package mutating func settle(turnIsFree: Bool, _ errands: inout Errands) -> PendingCommand? {
        // Not of a lane whose block is still to be sent: time may pass while the word is exchanged in a loop.
        if errands.send == nil { withdrawOverduePromise() }
        let best = self.best
        if let best, promised.isTo(best), !isSuspended {
            // On the way already.
        } else {
            promised = nil
            if turnIsFree, let best { promise(best, &errands) }
        }
        if case .lane(let lane) = promised, !timerIsRunning, somethingWaits(besides: lane) {
            timerIsRunning = true
            errands.timer = (lane.blockSent ?? now()) &+ patience.keeping
        }
        return best
    }
}

extension WaitingLine {
    private mutating func nextArrival(_ time: UInt64) -> UInt64 {
        lastArrival = max(lastArrival + 1, time)
        return lastArrival
    }

    /// The command that was overtaken as often as it may be; among several the one that came first.
    private func mostOvertaken(except other: Lane?) -> PendingCommand? {
        guard let limit = patience.overtakings else { return nil }
        var best: PendingCommand?
        for priority in CommandPriority.allCases {
            var firsts = [threads.first(of: priority)]
            for lane in lanes where !lane.isOverdue && lane !== other { firsts.append(lane.first(of: priority)) }
            for case let command? in firsts {
                let overtaken = Int32(
                    bitPattern: levels[Int(priority.level)].overtakings &- (unsafe command.overtakingBase)
                )
                if overtaken < 0 || UInt32(overtaken) < limit { continue }
                if let other = best, unsafe other.arrival < command.arrival { continue }
                best = command
            }
        }
        return best
    }

    private func best(except other: Lane?) -> PendingCommand? {
        if let command = mostOvertaken(except: other) { return command }
        var best = threads.first
        for lane in lanes where !lane.isOverdue && lane !== other {
            guard let first = lane.first else { continue }
            if let other = best, other.precedes(first) { continue }
            best = first
        }
        return best
    }

    private mutating func promise(_ command: PendingCommand, _ errands: inout Errands) {
        guard let lane = unsafe command.lane else {
            promised = .thread(command)
            errands.wake = command.parker
            return
        }
        promised = .lane(lane)
        if lane.blockSent == nil {
            lane.blockSent = now()
            errands.send = lane
        }
    }

    /// A lane whose queue has not started in time loses its place, if somebody else can use the turn.
    private mutating func withdrawOverduePromise() {
        guard case .lane(let lane) = promised, let sent = lane.blockSent, somethingWaits(besides: lane),
            now() >= sent &+ patience.keeping
        else { return }
        lane.isOverdue = true
        promised = nil
    }

    private func somethingWaits(besides lane: Lane) -> Bool {
        !threads.isEmpty || lanes.contains { $0 !== lane && !$0.isOverdue && !$0.isEmpty }
    }

    private mutating func removeIfIdle(_ lane: Lane) {
        guard lane.isIdle else { return }
        lanes.removeAll { $0 === lane }
    }
}

extension Optional<WaitingLine.Promise> {
    fileprivate func isTo(_ command: PendingCommand) -> Bool {
        switch self {
        case .thread(let promised): promised === command
        case .lane(let promised): unsafe promised === command.lane
        case nil: false
        }
    }
}
