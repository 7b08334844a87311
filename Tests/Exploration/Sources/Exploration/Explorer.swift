//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Runs the explorations and prints what they found.
struct Explorer {
    private(set) var states = 0
    private(set) var schedules = 0

    /// Looks at every schedule of a scenario, or at every one with at most so many preemptions.
    mutating func explore(_ scenario: Scenario, preemptions: Int?) -> Bool {
        let start = Date()
        world.chooser.beginExhaustive(preemptions: preemptions)
        repeat {
            world.chooser.beginExecution()
            if let failure = world.run(scenario) {
                print("Schedule \(world.chooser.complete + world.chooser.cut + 1) fails.")
                report(failure, in: scenario, "--replay '\(scenario.name):\(text(world.chooser.choices))'")
                return false
            }
        } while world.chooser.endExecution()
        let chooser = world.chooser
        states += chooser.states
        schedules += chooser.complete + chooser.cut
        let bound = preemptions.map { "at most \($0) preemptions" } ?? "all schedules"
        print(
            column(scenario.name, -56),
            column("\(chooser.states)", 9),
            "states",
            column("\(chooser.complete + chooser.cut)", 9),
            "schedules",
            column(seconds(since: start), 7),
            bound
        )
        unsafe fflush(nil)
        return true
    }

    /// Looks at one random schedule of each of so many random scenarios.
    func exploreRandomly(_ count: Int, seed: UInt64) -> Bool {
        let start = Date()
        var commands = 0
        var steps = 0
        for number in 0..<UInt64(count) {
            guard let done = runRandomly(seed &+ number) else { return false }
            commands += done
            steps += world.steps
        }
        print(
            "\(count) random schedules from seed \(seed): \(commands) commands, \(steps) steps,",
            seconds(since: start)
        )
        return true
    }

    /// - Returns: how many commands there were, or `nil` for a failure, which is printed.
    func runRandomly(_ seed: UInt64) -> Int? {
        let scenario = Scenario.random(seed: seed)
        world.chooser.beginRandom(seed: seed)
        guard let failure = world.run(scenario) else { return scenario.commands.count }
        if world.isVerbose { return nil }
        report(failure, in: scenario, "--seed \(seed)")
        return nil
    }

    /// Runs one schedule again and tells every step of it.
    func replay(_ scenario: Scenario, _ choices: [UInt8]) {
        for (number, actions) in scenario.text.enumerated() { print("  thread \(number):\(actions)") }
        world.isVerbose = true
        world.chooser.beginReplay(choices)
        if world.run(scenario) == nil { print("  nothing is wrong") }
        world.isVerbose = false
    }

    private func report(_ failure: String, in scenario: Scenario, _ arguments: String) {
        print("FAILED  \(scenario.name): \(failure)")
        replay(scenario, world.chooser.choices)
        print("FAILED  \(scenario.name): \(failure)\nTo see this schedule again: .ci/explore \(arguments)")
    }
}

extension Explorer {
    /// A schedule in characters, one for each choice; at the end zeros may be left out.
    func text(_ choices: [UInt8]) -> String {
        let used = choices.reversed().drop { $0 == 0 }.reversed()
        return used.map { String($0, radix: 36) }.joined()
    }

    func choices(_ text: some StringProtocol) -> [UInt8] {
        text.map { UInt8(String($0), radix: 36) ?? 0 }
    }

    private func seconds(since start: Date) -> String {
        String(format: "%.2f s", Date().timeIntervalSince(start))
    }

    private func column(_ text: String, _ width: Int) -> String {
        let space = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? text + space : space + text
    }
}
