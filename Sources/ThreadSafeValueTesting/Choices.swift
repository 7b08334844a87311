//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
/// The choices of one schedule, a digit each: at each fork, which of those that could go on did.
struct Choices {
    /// What is left to choose as it is given. After that, always the first option: the thread that runs goes on.
    private var given: Substring

    private(set) var taken = ""

    /// How many changes of threads were chosen.
    private(set) var changes = 0

    /// What could have been chosen instead, after all that was given, and with how many changes.
    private(set) var others: [(changes: Int, choices: String)] = []

    /// An option was given that there was not.
    private(set) var hasDiverged = false

    init(_ text: String) { given = text[...] }

    /// Chooses what goes on.
    ///
    /// - Parameters:
    ///   - count: How many options there are.
    ///   - free: How many of them are no change.
    /// - Returns: The option.
    mutating func choose(_ count: Int, free: Int) -> Int {
        if count == 1 { return 0 }
        var choice = 0
        if let digit = given.popFirst() {
            choice = Int(String(digit), radix: 36) ?? count
            if choice >= count { (choice, hasDiverged) = (0, true) }
        } else {
            for option in 1..<count {
                others.append((changes + (option < free ? 0 : 1), taken + String(option, radix: 36)))
            }
        }
        if choice >= free { changes += 1 }
        taken += String(choice, radix: 36)
        return choice
    }

    /// Without those at the end that are the first option.
    var text: String { taken.lastIndex { $0 != "0" }.map { String(taken[...$0]) } ?? "0" }
}

/// The schedules that are left to run, those with fewer changes first, each once.
struct Search {
    /// By the number of changes. The last one is the next.
    private var levels: [[String]]

    /// Whether there are schedules with more changes.
    private(set) var isCut = false

    init(from first: String, changes: Int) { levels = [[first]] + Array(repeating: [], count: changes) }

    mutating func next() -> String? {
        levels.firstIndex { !$0.isEmpty }.map { levels[$0].removeLast() }
    }

    /// Adds what could have been chosen instead.
    mutating func add(_ choices: Choices) {
        for other in choices.others {
            if other.changes < levels.count { levels[other.changes].append(other.choices) } else { isCut = true }
        }
    }
}
#endif
