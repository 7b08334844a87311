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

private func run(_ arguments: [String]) -> Bool {
    var explorer = Explorer()
    var rest = arguments[...]
    var only: String?
    var preemptions: Int?
    var isWhole = false
    var part = (index: 0, count: 1)
    while let option = rest.popFirst() {
        if option == "--whole" {
            isWhole = true
            continue
        }
        let argument = rest.popFirst() ?? ""
        switch option {
        case "--random":
            let seed = rest.popFirst().flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max >> 16)
            return explorer.exploreRandomly(Int(argument) ?? 1, seed: seed)
        case "--seed":
            guard let seed = UInt64(argument) else { break }
            world.isVerbose = true
            return explorer.runRandomly(seed) != nil
        case "--replay":
            let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
            guard let scenario = Scenario.all.first(where: { $0.name == parts[0] }), parts.count == 2 else { break }
            explorer.replay(scenario, explorer.choices(parts[1]))
            return world.failure == nil
        case "--only": only = argument
        case "--preemptions": preemptions = Int(argument)
        case "--part":
            let numbers = argument.split(separator: "/").compactMap { Int($0) }
            guard numbers.count == 2, numbers[0] >= 0, numbers[0] < numbers[1] else {
                print(usage)
                return false
            }
            part = (numbers[0], numbers[1])
        default:
            print(usage)
            return false
        }
    }
    let scenarios = Scenario.all.enumerated().compactMap { index, scenario in
        index % part.count == part.index && (only == nil || scenario.name == only) ? scenario : nil
    }
    for scenario in scenarios {
        let bound = isWhole ? nil : preemptions ?? scenario.preemptions
        guard explorer.explore(scenario, preemptions: bound) else { return false }
    }
    print("\(scenarios.count) scenarios, \(explorer.states) states, \(explorer.schedules) schedules")
    return true
}

// What is global is made here, not in the middle of an execution.
_ = (WaitGraph.shared, DispatchQueue.globalIdentities, DispatchQueue.own)
unsafe cfiber_on_crash { signal in
    print("FAILED  a crash with signal \(signal) in \(world.scenario): \(Explorer().text(world.chooser.choices))")
    fflush(nil)
}
exit(run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1)
