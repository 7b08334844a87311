//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import ThreadSafeValue

/// What one thread did.
struct Step {
    let runner: String
    let what: String
    var entry: Entry?
    var capture: () -> String = { "" }

    var place: String { capture() }
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
        "\(type)".replacing("CommandQueueStorage", with: "QueueSafeValue").replacing(
            "ProtectedStorage",
            with: "Protected"
        )
    }
}

extension Run {
    /// Notes an access, and what it says of the order of locks. With the mutex.
    ///
    /// - Returns: The number of its step.
    func record(
        _ what: StaticString,
        _ object: AnyObject,
        at word: UInt,
        waits: Bool,
        by me: Runner
    ) -> Int {
        let entry: Entry
        if let known = entries[word], known.object != nil {
            entry = known
        } else {
            entry = Entry(object, word)
            entries[word] = entry
        }
        let identity = Scheduling.identity
        names[identity.thread] = me.name
        if identity.task != 0 { names[identity.task] = me.name }
        steps.append(Step(runner: me.name, what: "\(what)", entry: entry))
        me.taken.removeAll { $0.entry === entry || !$0.entry.isHeld(by: identity) }
        if waits { noteOrder(of: me.taken, before: entry) }
        me.taken.append((steps.count - 1, entry))
        me.last = entry
        return steps.count - 1
    }

    /// A line for each step, but for the first ones of very many.
    var story: String {
        let (steps, places) = (steps.suffix(200), steps.suffix(200).map(\.place))
        let width = steps.map(\.runner.count).max() ?? 0
        let texts = steps.map(text)
        let textWidth = texts.map(\.count).max() ?? 0
        func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: width - text.count) }
        return zip(zip(steps, texts), places).map { step, place in
            let line = "  \(padded(step.0.runner, width))  "
            return line + (place.isEmpty ? step.1 : "\(padded(step.1, textWidth))   \(place)") + "\n"
        }.joined()
    }

    private func text(_ step: Step) -> String { step.entry.map { "\(step.what) \(name($0))" } ?? step.what }

    /// With a number if there are several of its type, in the order in which they were used first.
    func name(_ entry: Entry) -> String {
        var same: [Entry] = []
        for case let other? in steps.map(\.entry)
        where other.type == entry.type && !same.contains(where: { $0 === other }) {
            same.append(other)
        }
        let number = same.firstIndex { $0 === entry }.map { " #\($0 + 1)" } ?? ""
        return entry.typeName + (same.count > 1 ? number : "")
    }

    func lastStep(of name: String) -> String? {
        steps.last { $0.runner == name }.map { step in
            let place = step.place
            return "\(text(step))\(place.isEmpty ? "" : " at \(place)")"
        }
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
            let start = "\(name) waits after \(lastStep(of: name)!)"
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
