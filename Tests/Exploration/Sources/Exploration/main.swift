//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CFiber
import Foundation

private let usage = """
    Exploration                          all scenarios exhaustively, the largest with a bound on preemptions
    Exploration --whole                  the same without bounds, which takes many minutes
    Exploration --random COUNT [SEED]    random schedules of random scenarios
    Exploration --only NAME              one scenario exhaustively
    Exploration --part I/N               every Nth scenario, from the one with index I, for N processes side by side
    Exploration --preemptions N          with at most N preemptions
    Exploration --seed SEED              one random schedule again, step by step
    Exploration --replay 'NAME:CHOICES'  one schedule of a scenario again, step by step
    """

/// - Returns: `nil` for arguments that make no sense.
private func run(_ arguments: [String]) -> Bool? {
    var explorer = Explorer()
    var rest = arguments[...]
    var scenarios = Scenario.all
    var preemptions: Int?
    var isWhole = false
    while let option = rest.popFirst() {
        if option == "--whole" {
            isWhole = true
            continue
        }
        guard let argument = rest.popFirst() else { return nil }
        switch option {
        case "--random":
            let given = rest.popFirst()
            guard let count = Int(argument), let seed = given.map({ UInt64($0) }) ?? .random(in: 0...UInt64.max >> 16)
            else { return nil }
            return explorer.exploreRandomly(count, seed: seed)
        case "--seed":
            guard let seed = UInt64(argument) else { return nil }
            world.isVerbose = true
            return explorer.runRandomly(seed) != nil
        case "--replay":
            let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let scenario = scenario(named: String(parts[0])) else { return nil }
            explorer.replay(scenario, explorer.choices(parts[1]))
            return world.failure == nil
        case "--only":
            guard let scenario = scenario(named: argument) else { return nil }
            scenarios = [scenario]
        case "--preemptions":
            guard let bound = Int(argument) else { return nil }
            preemptions = bound
        case "--part":
            let numbers = argument.split(separator: "/").compactMap { Int($0) }
            guard numbers.count == 2, numbers[0] >= 0, numbers[0] < numbers[1] else { return nil }
            scenarios = stride(from: numbers[0], to: scenarios.count, by: numbers[1]).map { scenarios[$0] }
        default:
            return nil
        }
    }
    for scenario in scenarios {
        let bound = isWhole ? nil : preemptions ?? scenario.preemptions
        guard explorer.explore(scenario, preemptions: bound) else { return false }
    }
    print("\(scenarios.count) scenarios, \(explorer.states) states, \(explorer.schedules) schedules")
    return true
}

private func scenario(named name: String) -> Scenario? {
    if let scenario = Scenario.all.first(where: { $0.name == name }) { return scenario }
    print("error: there is no scenario \"\(name)\". There are:")
    for scenario in Scenario.all { print("    " + scenario.name) }
    return nil
}

// What is global is made here, not in the middle of an execution.
_ = (WaitGraph.shared, DispatchQueue.globalIdentities, DispatchQueue.own)
unsafe cfiber_on_crash { signal in
    print("FAILED  a crash with signal \(signal) in \(world.scenario): \(Explorer().text(world.chooser.choices))")
    fflush(nil)
}
guard let isPassed = run(Array(CommandLine.arguments.dropFirst())) else {
    print(usage)
    exit(2)
}
exit(isPassed ? 0 : 1)
