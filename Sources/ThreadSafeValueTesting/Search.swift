//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
/// The schedules of a test: the one that runs, and those that are left, the ones with fewer changes first, each once.
///
/// A schedule is a text of its choices, a digit each: at each fork, which of those that could go on did.
final class Search {
    /// Those that are left, by the number of changes.
    private var levels: [ArraySlice<String>]
    private let isReplay: Bool

    /// Whether there are schedules with more changes.
    private(set) var isCut = false

    /// How many schedules have begun.
    private(set) var schedules = 0

    /// What is left to choose as it is given. After that, always the first option: the thread that runs goes on.
    private var given: Substring = ""

    /// What was chosen.
    private(set) var taken = ""

    /// How many changes of threads were chosen.
    private(set) var changes = 0

    /// An option was given that there was not.
    private(set) var hasDiverged = false

    init(changes: Int, replaying text: String?) {
        (levels, isReplay) = ([[text ?? ""]] + Array(repeating: [], count: changes), text != nil)
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

    func begin(_ text: String) { (given, taken, changes) = (text[...], "", 0) }

    /// Chooses what goes on, and keeps what could be chosen instead for later.
    ///
    /// - Parameters:
    ///   - count: How many options there are.
    ///   - free: How many of them are no change.
    /// - Returns: The option.
    func choose(_ count: Int, free: Int) -> Int {
        if count == 1 { return 0 }
        var choice = given.first.map { Int(String($0), radix: 36) ?? count } ?? 0
        if choice >= count { (choice, hasDiverged) = (0, true) }
        if given.popFirst() == nil, !isReplay {
            for option in 1..<count {
                let changes = changes + (option < free ? 0 : 1)
                isCut = isCut || changes == levels.count
                if changes < levels.count { levels[changes].append(taken + String(option, radix: 36)) }
            }
        }
        if choice >= free { changes += 1 }
        taken += String(choice, radix: 36)
        return choice
    }

    /// What to pass as `replaying`: without choices at the end that are the first option.
    var replay: String { taken.lastIndex { $0 != "0" }.map { String(taken[...$0]) } ?? "0" }
}
#endif
