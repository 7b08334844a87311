//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation
import ThreadSafeValue

/// What one thread did.
struct Step {
    let runner: String
    let what: String
    var entry: Entry?
    /// Where the thread was; empty if that is not known.
    var place: () -> String = { "" }
}

/// A value or a lock that the test uses.
final class Entry {
    weak var object: AnyObject?
    let word: UInt
    let type: AnyObject.Type

    init(_ object: AnyObject, _ word: UInt) {
        (self.object, self.word, type) = (object, word, Swift.type(of: object))
    }

    /// As the program calls it.
    var typeName: String {
        let name = "\(type)".replacingOccurrences(of: "CommandQueueStorage", with: "QueueSafeValue")
        return name.replacingOccurrences(of: "ProtectedStorage", with: "Protected")
    }
}

extension Run {
    /// Notes an access, and what it says of the order of locks. With the mutex.
    ///
    /// - Returns: The number of its step.
    func record(_ what: StaticString, _ object: AnyObject, at word: UInt, waits: Bool, by me: Runner) -> Int {
        let known = knownEntry(at: word)
        let entry = known ?? Entry(object, word)
        if known == nil { entries.append(entry) }
        let identity = Scheduling.identity
        names[identity.thread] = me.name
        if identity.task != 0 { names[identity.task] = me.name }
        steps.append(Step(runner: me.name, what: "\(what)", entry: entry))
        me.taken.removeAll { $0.entry === entry || !$0.entry.isHeld(by: identity) }
        if waits { noteOrder(of: me.taken, before: entry) }
        me.taken.append((steps.count - 1, entry))
        return steps.count - 1
    }

    /// What is at an address, if it was used and has not gone away.
    func knownEntry(at word: UInt) -> Entry? { entries.last { $0.word == word && $0.object != nil } }

    /// A line for each step, but for the first ones of very many.
    var story: String {
        let lines = steps.suffix(200).map { (runner: $0.runner, text: text($0), place: $0.place()) }
        let width = lines.map { $0.runner.count }.max() ?? 0
        let textWidth = lines.map { $0.text.count }.max() ?? 0
        func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: width - text.count) }
        return lines.map { runner, text, place in
            let text = place.isEmpty ? text : "\(padded(text, textWidth))   \(place)"
            return "  \(padded(runner, width))  \(text)\n"
        }.joined()
    }

    private func text(_ step: Step) -> String { step.entry.map { "\(step.what) \(name($0))" } ?? step.what }

    /// What a thread did, and where.
    func placed(_ step: Step) -> String {
        let place = step.place()
        return text(step) + (place.isEmpty ? "" : " at \(place)")
    }

    /// With a number if there are several of its type, in the order in which they were used first.
    private func name(_ entry: Entry) -> String {
        let same = entries.filter { $0.type == entry.type }
        return entry.typeName + (same.count > 1 ? " #\(same.firstIndex { $0 === entry }! + 1)" : "")
    }

    /// Who waits for whom. With the mutex.
    func waits() -> String {
        let sleepers = runners.filter { $0.sleep != nil && !$0.isWoken }.map(\.name)
        let suspended = tasks.map(\.name).filter { !sleepers.contains($0) }
        return (sleepers + suspended).map { name in
            guard let step = steps.last(where: { $0.runner == name }), let entry = step.entry, entry.object != nil
            else {
                return "\(name) is never resumed"
            }
            let start = "\(name) waits after \(placed(step))"
            let holder = Scheduling.holder(at: entry.word)
            if holder == Scheduling.detached { return "\(start), whose command has not called `done`" }
            return names[holder].map { "\(start), which \($0 == name ? "it" : $0) has" } ?? start
        }.joined(separator: "; ")
    }
}

extension Entry {
    func isHeld(by identity: (thread: UInt64, task: UInt64)) -> Bool {
        guard let object else { return false }
        let holder = withExtendedLifetime(object) { Scheduling.holder(at: word) }
        return holder != 0 && (holder == identity.thread || holder == identity.task)
    }
}
#endif
