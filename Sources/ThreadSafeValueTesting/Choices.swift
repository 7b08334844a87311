//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
/// The choices of one schedule: at each fork, which of those that could go on did.
struct Choices {
    /// What to choose first. After that, always the first option: the thread that runs goes on.
    let prefix: [UInt8]

    private(set) var taken: [UInt8] = []

    /// How many changes of threads were chosen.
    private(set) var changes = 0

    /// The forks behind the prefix: how many options there were, how many of them are no change, and the changes before.
    private(set) var forks: [(index: Int, count: Int, free: Int, changes: Int)] = []

    /// The prefix named an option that there was not.
    private(set) var hasDiverged = false

    init(prefix: [UInt8] = []) { self.prefix = prefix }

    /// Chooses what goes on.
    ///
    /// - Parameters:
    ///   - count: How many options there are.
    ///   - free: How many of them are no change.
    /// - Returns: The option.
    mutating func choose(_ count: Int, free: Int) -> Int {
        if count == 1 { return 0 }
        let isNew = taken.count >= prefix.count
        var choice = isNew ? 0 : Int(prefix[taken.count])
        if choice >= count { (choice, hasDiverged) = (0, true) }
        if isNew { forks.append((taken.count, count, free, changes)) }
        if choice >= free { changes += 1 }
        taken.append(UInt8(clamping: choice))
        return choice
    }
}

extension Choices {
    /// A digit for each choice, without those at the end that are 0.
    var text: String {
        let count = (taken.lastIndex { $0 != 0 } ?? -1) + 1
        return count == 0 ? "0" : taken[..<count].map { String($0, radix: 36) }.joined()
    }

    init?(text: String) {
        let digits = text.compactMap { $0.isASCII ? UInt8(String($0), radix: 36) : nil }
        if digits.count != text.count { return nil }
        self.init(prefix: digits)
    }
}

/// The schedules that are left to run, those with fewer changes first, each once.
struct Search {
    /// By the number of changes. The last of a level is the next.
    private var levels: [[[UInt8]]]
    private var level = 0

    /// Whether there are schedules with more changes.
    private(set) var isCut = false

    init(changes: Int) {
        levels = Array(repeating: [], count: changes + 1)
        levels[0] = [[]]
    }

    mutating func next() -> [UInt8]? {
        while levels[level].isEmpty {
            if level + 1 == levels.count { return nil }
            level += 1
            // Those that were found first come first.
            levels[level].reverse()
        }
        return levels[level].removeLast()
    }

    /// Adds what could have been chosen instead.
    mutating func add(_ choices: Choices) {
        for fork in choices.forks {
            for option in (1..<fork.count).reversed() {
                let changes = fork.changes + (option < fork.free ? 0 : 1)
                if changes >= levels.count {
                    isCut = true
                } else {
                    levels[changes].append(choices.taken[..<fork.index] + [UInt8(clamping: option)])
                }
            }
        }
    }
}
#endif
