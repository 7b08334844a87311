//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Scenario {
    /// A larger scenario that one number determines: up to seven threads, some twenty commands, two values, three queues.
    static func random(seed: UInt64) -> Scenario {
        var maker = ScenarioMaker(seed)
        return maker.scenario(named: "seed \(seed)")
    }
}

private struct ScenarioMaker {
    private var random: SplitMix
    private var values = 1
    private var queues: [Int] = []
    private var left = 0

    init(_ seed: UInt64) {
        random = SplitMix(state: seed ^ 0x5CE0_A410)
        values = one(in: 3) ? 2 : 1
        queues = (0..<number(4)).map { _ in one(in: 4) ? 2 : 1 }
        if one(in: 8) { queues.append(0) }
    }

    private mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private mutating func one(in count: Int) -> Bool { number(count) == 0 }

    private mutating func any<Element>(_ elements: Element...) -> Element { elements[number(elements.count)] }

    mutating func scenario(named name: String) -> Scenario {
        var threads: [[Action]] = []
        for _ in 0..<2 + number(3) { threads.append((0..<1 + number(4)).map { _ in command(depth: 0) }) }
        let (main, value) = (one(in: 2) ? 0 : nil as Int?, number(values))
        // At its end a thread lets go of all; with this, the value may be gone at the end.
        if one(in: 3) { threads[number(threads.count)].append(.release(value)) }
        if one(in: 4) {
            threads.append([.suspend(value), .resume(value)])
        } else if one(in: 3), threads.joined().allSatisfy({ $0.onlySubmits(to: value) }) {
            // A thread would wait for ever, and a closure with a handle would keep the value.
            threads.append([.suspend(value), .release(value)])
        }
        if !queues.isEmpty, one(in: 3) {
            let queue = number(queues.count)
            threads.append([.setQueueSuspended(queue, true), .setQueueSuspended(queue, false)])
        }
        if one(in: 6) { threads.append([.cancelAll(value)]) }
        if one(in: 6), let task = threads.indices.first(where: { threads[$0].contains(where: \.isOfTask) }) {
            threads.append([.cancelTask(task)])
        }
        if one(in: 6) { threads.append([.listenFromNow(value)]) }
        if left > 0 { threads.append((0..<left).map { _ in .complete(any(.calling, .callingTwice, .dropping)) }) }
        return Scenario(
            name,
            queues: queues,
            main: main,
            jumps: (0..<number(3)).map { _ in any(1_000, 251_000, 5_001_000) },
            haste: number(4),
            batch: 1 + number(3),
            looks: 1 + number(2),
            isListenedTo: one(in: 4),
            threads: threads
        )
    }

    private mutating func command(depth: Int) -> Action {
        let priority: CommandPriority = any(.lowest, .lowest, .medium, .highest)
        let value = number(values)
        let body: Command.Body
        switch number(16) {
        case 0...2: body = .get
        case 3: body = .fail
        case 4: body = .manual(any(.calling, .callingTwice, .dropping))
        case 5...6 where depth == 0:
            left += 1
            body = .left
        case 7...8 where depth < 2: body = .then(command(depth: depth + 1))
        default: body = .set
        }
        if queues.isEmpty || one(in: 2) {
            let timeout: UInt64 = one(in: 6) ? 1_000 : .max
            let mayBeTask = body == .set || body == .get || body.isInner
            if mayBeTask, depth == 0, one(in: 3) {
                return .task(priority, body == .get ? .set : body, isAsync: one(in: 2), on: value, timeout: timeout)
            }
            return .wait(priority, body, on: value, timeout: timeout)
        }
        var report: Command.Report?
        switch number(6) {
        case _ where body == .get: report = .closure
        case 0 where depth < 2: report = .then(command(depth: depth + 1))
        case 1...3: report = .closure
        // Who is too late and has nothing to report to is not told; whoever is to complete it would wait for it.
        default: if body == .left { report = .closure }
        }
        return .async(number(queues.count), priority, body, tells: report, on: value)
    }
}

extension Action {
    /// Whether nothing in it waits for the value, and no closure uses it.
    fileprivate func onlySubmits(to value: Int) -> Bool {
        guard case .command(let command) = self else { return true }
        if command.value == value, !command.isAsync { return false }
        return !command.innerActions.flatMap(\.values).contains(value)
    }
}

extension Command.Body {
    fileprivate var isInner: Bool { if case .then = self { true } else { false } }
}
