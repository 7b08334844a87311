//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Scenario {
    /// A larger scenario that one number determines: up to six threads, some twenty commands, two values, three queues.
    static func random(seed: UInt64) -> Scenario {
        var random = SplitMix(state: seed ^ 0x5CE0_A410)
        var maker = ScenarioMaker(&random)
        return maker.scenario(named: "seed \(seed)", &random)
    }
}

private struct ScenarioMaker {
    let values: Int
    let queues: [Int]
    private var left = 0

    init(_ random: inout SplitMix) {
        values = random.next() % 3 == 0 ? 2 : 1
        queues = (0..<Int(random.next() % 4)).map { _ in random.next() % 4 == 0 ? 2 : 1 }
    }

    mutating func scenario(named name: String, _ random: inout SplitMix) -> Scenario {
        var threads: [[Action]] = []
        for _ in 0..<2 + random.next() % 3 {
            threads.append((0..<1 + random.next() % 5).map { _ in command(depth: 0, &random) })
        }
        if random.next() % 3 == 0 {
            // At its end a thread lets go of all; with this, the value may be gone at the end.
            let thread = Int(random.next() % UInt64(threads.count))
            threads[thread].append(.release(Int(random.next() % UInt64(values))))
        }
        if random.next() % 4 == 0 {
            let value = Int(random.next() % UInt64(values))
            threads.append([.suspend(value), .resume(value)])
        } else if random.next() % 4 == 0 {
            // A thread would wait for ever, and a closure with a handle would keep the value.
            let value = Int(random.next() % UInt64(values))
            let isAsync = threads.joined().allSatisfy { $0.onlySubmits(to: value) }
            if isAsync { threads.append([.suspend(value), .release(value)]) }
        }
        if !queues.isEmpty, random.next() % 3 == 0 {
            let queue = Int(random.next() % UInt64(queues.count))
            threads.append([.suspendQueue(queue), .resumeQueue(queue)])
        }
        if left > 0 {
            threads.append(
                (0..<left).map { _ in .complete([.calling, .callingTwice, .dropping][Int(random.next() % 3)]) }
            )
        }
        let jumps = (0..<random.next() % 4).map { _ in [1_000, 101_000, 5_001_000][Int(random.next() % 3)] as UInt64 }
        return Scenario(
            name,
            queues: queues,
            jumps: jumps,
            batch: 1 + Int(random.next() % 3),
            spins: Int(random.next() % 3),
            circleDelay: random.next() % 4 == 0 ? 1_000_000 : 0,
            listening: [.none, .none, .waiting, .behind][Int(random.next() % 4)],
            threads: threads
        )
    }

    private mutating func command(depth: Int, _ random: inout SplitMix) -> Action {
        let priority: CommandPriority = [.lowest, .lowest, .medium, .highest][Int(random.next() % 4)]
        let value = Int(random.next() % UInt64(values))
        let target = queues.isEmpty || random.next() % 2 == 0 ? nil : Int(random.next() % UInt64(queues.count))
        let body: Command.Body
        switch random.next() % 16 {
        case 0...6: body = .set
        case 7...8: body = .get
        case 9: body = .map
        case 10: body = .fail
        case 11: body = .manual([.calling, .callingTwice, .dropping][Int(random.next() % 3)])
        case 12...13 where depth == 0:
            left += 1
            body = .left
        case 14...15 where depth < 2: body = .then(command(depth: depth + 1, &random))
        default: body = .set
        }
        guard let target else {
            return random.next() % 6 == 0
                ? .waitBriefly(priority, body, on: value) : .wait(priority, body, on: value)
        }
        let report: Command.Report
        switch random.next() % 6 {
        case _ where body.isGet: report = .closure
        case 0 where depth < 2: report = .then(command(depth: depth + 1, &random))
        case 1...3: report = .closure
        default:
            // Who is too late and has nothing to report to is not told; whoever is to complete it would wait for it.
            if case .left = body { report = .closure } else { report = .none }
        }
        if case .set = body, case .none = report {
            switch random.next() % 4 {
            case 0: return .task(priority, target, on: value)
            case 1: return .startedTask(priority, target, on: value)
            default: break
            }
        }
        return .async(priority, target, body, report, on: value)
    }
}

extension Action {
    /// Whether no `wait` on the value is in it, nor a task that waits for it, and no closure that uses the value.
    fileprivate func onlySubmits(to value: Int) -> Bool {
        guard case .command(let command) = self else { return true }
        if command.value == value, command.target == nil || command.place == .task { return false }
        return !command.innerActions.flatMap(\.values).contains(value)
    }
}

extension Command.Body {
    /// Its closure is its report, and nothing else can be told.
    fileprivate var isGet: Bool {
        if case .get = self { true } else { false }
    }
}
