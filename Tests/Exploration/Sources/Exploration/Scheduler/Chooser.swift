//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Decides what the scheduler leaves open: who goes on, and whether the clock jumps.
struct Chooser {
    enum Mode {
        /// Everything, depth first; what was met before is not looked at again.
        case exhaustive
        /// At random.
        case random
        /// As it is written, then without any switch that is not needed.
        case replay
    }

    private var mode = Mode.replay

    /// What was chosen in this execution.
    private(set) var choices: [UInt8] = []

    // Exhaustive: the path to the next execution, and all states that were met.
    private struct Fork {
        var chosen: UInt8
        let last: UInt8
        let staying: Bool
    }
    private var path: [Fork] = []
    /// With how many preemptions left each state was met.
    private var visited: [UInt64: Int] = [:]
    private var preemptionBound: Int?
    private var preemptions = 0
    private var isCoasting = false
    private(set) var complete = 0
    private(set) var cut = 0

    // Random.
    private var random = SplitMix(state: 0)
    private var restlessness: UInt64 = 0

    // Replay.
    private var script: [UInt8] = []
}

extension Chooser {
    var states: Int { visited.count }

    /// Whether an earlier execution has done the same up to now, and longer.
    var isOnKnownPath: Bool { mode == .exhaustive && choices.count < path.count }

    /// Explores everything, or everything with at most so many preemptions: switches away from a thread that could go
    /// on.
    mutating func beginExhaustive(preemptions bound: Int?) {
        self = Chooser()
        mode = .exhaustive
        preemptionBound = bound
    }

    mutating func beginReplay(_ script: [UInt8]) {
        mode = .replay
        self.script = script
        choices = []
    }

    mutating func beginRandom(seed: UInt64) {
        mode = .random
        random = SplitMix(state: seed)
        // Some schedules switch at each step, some hardly ever: each finds what the other does not.
        restlessness = [256, 128, 64, 24, 8][Int(random.next() % 5)]
        choices.removeAll(keepingCapacity: true)
    }

    /// Begins an execution of an exhaustive exploration.
    mutating func beginExecution() {
        choices.removeAll(keepingCapacity: true)
        preemptions = 0
        isCoasting = false
    }

    /// Ends an execution of an exhaustive exploration.
    ///
    /// - Returns: whether there is another one.
    mutating func endExecution() -> Bool {
        if isCoasting { cut += 1 } else { complete += 1 }
        while var fork = path.popLast() {
            if fork.chosen < fork.last {
                fork.chosen += 1
                path.append(fork)
                return true
            }
        }
        return false
    }

    /// Chooses one of `count`.
    ///
    /// - Parameters:
    ///   - count: how many possibilities there are.
    ///   - staying: whether the first is to stay with a thread that could go on, and any other a preemption.
    ///   - kind: what is chosen, as the same state may leave several things open.
    /// - Returns: the number of the one to take.
    mutating func choose(_ count: Int, staying: Bool, kind: UInt64) -> Int {
        let choice: UInt8
        switch mode {
        case .replay: choice = choices.count < script.count ? min(script[choices.count], UInt8(count - 1)) : 0
        case .random: choice = chooseRandomly(count, staying)
        case .exhaustive: choice = chooseNext(count, staying, kind)
        }
        choices.append(choice)
        return Int(choice)
    }

    private mutating func chooseRandomly(_ count: Int, _ staying: Bool) -> UInt8 {
        let word = random.next()
        if staying, word & 255 >= restlessness { return 0 }
        return UInt8((word >> 8) % UInt64(count))
    }

    private mutating func chooseNext(_ count: Int, _ staying: Bool, _ kind: UInt64) -> UInt8 {
        let index = choices.count
        if index >= path.count {
            if isCoasting { return 0 }
            let left = preemptionBound.map { $0 - preemptions }
            // With a bound the thread that could stay is part of the state: leaving it costs.
            var state = mix(world.state, kind)
            if left != nil { state = mix(state, staying ? UInt64(world.current.index) : 0) }
            if let known = visited[state], known >= left ?? 0 {
                isCoasting = true
                return 0
            }
            visited[state] = left ?? 0
            let last = staying && left == 0 ? 0 : count - 1
            path.append(Fork(chosen: 0, last: UInt8(last), staying: staying))
        }
        let fork = path[index]
        if fork.staying, fork.chosen > 0 { preemptions += 1 }
        return fork.chosen
    }
}

/// Random numbers that one word determines.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
