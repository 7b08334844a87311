//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Scenario {
    /// A larger scenario that one number determines: up to seven threads, some twenty commands, two values, three queues.
    static func random(seed: UInt64) -> Scenario {
        var maker = ScenarioMaker(seed)
        return Scenario(maker.scenario(named: "seed \(seed)"))
    }
}

private struct ScenarioMaker {
    private var random: SplitMix
    private var values = 1
    private var queues: [Int] = []
    private var left = 0
    /// Whether nothing waits for a value, and no closure uses one.
    private var onlySubmits = true

    init(_ seed: UInt64) {
        random = SplitMix(state: seed ^ 0x5CE0_A410)
        values = one(in: 3) ? 2 : 1
        queues = (0..<number(4)).map { _ in one(in: 4) ? 2 : 1 }
        if one(in: 8) { queues.append(0) }
    }

    private mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private mutating func one(in count: Int) -> Bool { number(count) == 0 }

    private mutating func any(_ words: String...) -> String { words[number(words.count)] }

    mutating func scenario(named name: String) -> String {
        let mayWait = !one(in: 8) || queues.isEmpty
        var threads: [[String]] = []
        for _ in 0..<2 + number(3) {
            threads.append((0..<1 + number(4)).map { _ in command(depth: 0, mayWait: mayWait) })
        }
        let value = number(values)
        // At its end a thread lets go of all; with this, the value may be gone at the end.
        if one(in: 3) { threads[number(threads.count)].append("release \(value)") }
        if onlySubmits {
            // A thread would wait for ever, and a closure with a handle would keep the value.
            threads.append(["suspend \(value)", "release \(value)"])
        } else if one(in: 4) {
            threads.append(["suspend \(value)", "resume \(value)"])
        }
        if !queues.isEmpty, one(in: 3) {
            let queue = number(queues.count)
            threads.append(["stop \(queue)", "start \(queue)"])
        }
        if one(in: 6) { threads.append(["cancelAll \(value)"]) }
        let task = threads.firstIndex { $0.contains { $0.hasPrefix("task") || $0.hasPrefix("closure") } }
        if let task, one(in: 3) { threads.append(["cancelTask \(task)"]) }
        if one(in: 6) { threads.append(["listen \(value)"]) }
        if left > 0 { threads.append((0..<left).map { _ in any("complete", "completeTwice", "drop") }) }
        var options = ["haste \(number(4))", "batch \(1 + number(3))", "looks \(1 + number(2))"]
        if !queues.isEmpty { options.append("queues " + queues.map(String.init).joined(separator: " ")) }
        if one(in: 2) { options.append("main 0") }
        if one(in: 2) { options.append("jumps " + any("late", "fair", "fair late")) }
        if one(in: 4) { options.append("listened") }
        let text = threads.map { $0.joined(separator: "; ") }.joined(separator: " | ")
        return "\(name) [\(options.joined(separator: ", "))]: \(text)"
    }

    private mutating func command(depth: Int, mayWait: Bool) -> String {
        let isWait = mayWait && (queues.isEmpty || one(in: 2))
        var words = [isWait ? "wait" : "async \(number(queues.count))", any("lowest", "lowest", "medium", "highest")]
        if values > 1 { words.append("on \(number(values))") }
        if isWait {
            onlySubmits = false
            if one(in: 6) { words.append("briefly") }
        }
        // Who is too late and has nothing to report to is not told; whoever is to complete it would wait for it.
        var tells = one(in: 2)
        var isPlain = true
        switch number(16) {
        case 0...2:
            (isPlain, tells) = (false, true)
            words.append("get")
        case 3...4:
            isPlain = false
            words.append(any("fail", "done", "doneTwice", "dropped"))
        case 5...6 where depth == 0:
            (isPlain, tells) = (false, true)
            left += 1
            words.append("left")
        case 7...8 where depth < 2: words += inner("doing", depth)
        default: break
        }
        if isWait {
            if isPlain, depth == 0, one(in: 3) { words[0] = any("task", "closure") }
        } else if depth < 2, tells, words.last != "get", one(in: 4) {
            words += inner("tells", depth)
        } else if tells {
            words.append("tells")
        }
        return words.joined(separator: " ")
    }

    private mutating func inner(_ word: String, _ depth: Int) -> [String] {
        onlySubmits = false
        return [word, "{", command(depth: depth + 1, mayWait: true), "}"]
    }
}
