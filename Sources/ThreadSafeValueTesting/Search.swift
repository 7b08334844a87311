//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The schedules of a test: the one that runs, and those that are left, the ones with fewer changes first, each once.
///
/// A schedule is its choices: at each fork, which of those that could go on did. As a text it has a digit for each.
final class Search {
    /// The prefixes that are left, by the number of changes.
    private var levels: [ArraySlice<[UInt8]>]
    private let isReplay: Bool

    /// Whether there are schedules with more changes.
    private(set) var isCut = false

    /// How many schedules have begun.
    private(set) var schedules = 0

    /// The choices that are given. After them, always the first option: the thread that runs goes on.
    private var given: [UInt8] = []

    /// The choices that were made.
    private(set) var taken: [UInt8] = []

    /// How many changes of threads were chosen.
    private(set) var changes = 0

    /// An option was given that there was not.
    private(set) var hasDiverged = false

    init(changes: Int, replaying text: String?) {
        levels = [[(text ?? "").map { UInt8(String($0), radix: 36) ?? .max }]] + Array(repeating: [], count: changes)
        isReplay = text != nil
    }
}

extension Search {
    /// Begins another schedule, if one is left.
    func next() -> Bool {
        guard let level = levels.firstIndex(where: { !$0.isEmpty }) else { return false }
        begin(levels[level].removeFirst())
        schedules += 1
        return true
    }

    func begin(_ choices: [UInt8]) { (given, taken, changes) = (choices, [], 0) }

    /// Chooses what goes on, and keeps what could be chosen instead for later.
    ///
    /// - Parameters:
    ///   - count: How many options there are.
    ///   - free: How many of them are no change.
    /// - Returns: The option.
    func choose(_ count: Int, free: Int) -> Int {
        if count == 1 { return 0 }
        var choice = taken.count < given.count ? Int(given[taken.count]) : 0
        if choice >= count { (choice, hasDiverged) = (0, true) }
        for option in 1..<count where taken.count >= given.count && !isReplay {
            let changes = changes + (option < free ? 0 : 1)
            isCut = isCut || changes == levels.count
            if changes < levels.count { levels[changes].append(taken + [UInt8(option)]) }
        }
        if choice >= free { changes += 1 }
        taken.append(UInt8(choice))
        return choice
    }

    /// The text to pass as `replaying`: without choices at the end that are the first option.
    var replay: String { (taken + [0])[...(taken.lastIndex { $0 > 0 } ?? 0)].map { String($0, radix: 36) }.joined() }
}
