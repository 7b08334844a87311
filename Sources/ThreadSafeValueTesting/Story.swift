//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation
import ThreadSafeValue

/// The steps of one runner.
struct Step {
    let runner: String
    let what: String
    var entry: Entry?

    /// The thread and the task that made the access.
    var identity: (thread: UInt64, task: UInt64) = (0, 0)

    /// The accesses around it, if it may wait.
    var outer: [Step] = []

    /// Where the thread was, if that is known.
    var place: () -> String? = { nil }
}

/// A value or a lock that the test uses.
final class Entry {
    weak var object: AnyObject?
    let word: UInt
    let type: AnyObject.Type

    init(_ object: AnyObject, _ word: UInt) {
        (self.object, self.word, type) = (object, word, Swift.type(of: object))
    }

    /// Whether the thread or the task of a step has it.
    func isHeld(by step: Step) -> Bool {
        guard let object else { return false }
        let holder = withExtendedLifetime(object) { Scheduling.holder(at: word) }
        return holder != 0 && (holder == step.identity.thread || holder == step.identity.task)
    }

    /// As the program calls it.
    var typeName: String {
        let name = "\(type)".replacingOccurrences(of: "CommandQueueStorage", with: "QueueSafeValue")
        return name.replacingOccurrences(of: "ProtectedStorage", with: "Protected")
    }
}

extension Run {
    /// Notes an access.
    func record(_ what: StaticString, _ object: AnyObject, at word: UInt, waits: Bool, by me: Runner) {
        idleCount = 0
        if me.timeout != .max, !what.description.contains("time-out") { me.timeout = .max }
        let old = knownEntry(at: word)
        let entry = old ?? Entry(object, word)
        if old == nil { Self.mutex.withLock { entries.append(entry) } }
        var step = Step(runner: me.name, what: what.description, entry: entry, identity: Scheduling.identity)
        for index in 0..<entries.count where waits && entries[index] !== entry && entries[index].isHeld(by: step) {
            if let outer = access(to: entries[index]) { step.outer.append(outer) }
        }
        for index in 0..<step.outer.count { nestings.append((step.outer[index], step)) }
        #if canImport(Runtime)
        if steps.count >= tracedFrom, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            step.place = { [place = Place()] in place.text }
        }
        #endif
        steps.append(step)
    }

    /// The thing at an address, if it was used and has not gone away.
    func knownEntry(at word: UInt) -> Entry? { entries.last { $0.word == word && $0.object != nil } }

    func lastStep(of name: String) -> Step? { steps.last { $0.runner == name } }

    /// The access of the thread or the task that has a value or a lock.
    private func access(to entry: Entry) -> Step? { steps.last { $0.entry === entry && entry.isHeld(by: $0) } }

    /// A line for each step, but for the first ones of very many.
    fileprivate var story: String {
        let lines = steps.suffix(200).map { (runner: $0.runner, text: text($0), place: $0.place()) }
        let width = lines.map(\.runner.count).max() ?? 0
        let textWidth = lines.map(\.text.count).max() ?? 0
        return lines.map { runner, text, place in
            let text = place.map { text.padding(toLength: textWidth, withPad: " ", startingAt: 0) + "   \($0)" } ?? text
            return "  \(runner.padding(toLength: width, withPad: " ", startingAt: 0))  \(text)\n"
        }.joined()
    }

    /// The text of a failure, with all that went before.
    func failure(_ message: String) -> ScheduleFailure {
        let text = """
            \(message), after \(number(search.schedules, "schedule")), with \(number(search.changes, "change")) of threads
            \(story)replay with everySchedule(replaying: "\(search.replay)")
            """
        return ScheduleFailure(description: text, schedules: search.schedules, replay: search.replay)
    }

    /// A step of a runner, and its place.
    func placed(_ step: Step) -> String { text(step) + (step.place().map { " at \($0)" } ?? "") }

    /// With a number if several of the type are used, in the order in which they were used first.
    private func text(_ step: Step) -> String {
        guard let entry = step.entry else { return step.what }
        let same = entries.filter { $0.type == entry.type }
        let number = same.count > 1 ? " #\(same.firstIndex { $0 === entry }! + 1)" : ""
        return "\(step.what) \(entry.typeName)\(number)"
    }

    /// Says which runner waits for which.
    var waits: String {
        // Each name once: a task waits as a whole, too.
        let names = Set(runners.filter { $0.body == nil }.map(\.name))
        return names.sorted().map { name in
            guard let step = lastStep(of: name), let entry = step.entry, entry.object != nil
            else { return "\(name) is never resumed" }
            let isDetached = Scheduling.holder(at: entry.word) == Scheduling.detached
            let holder = access(to: entry).map { ", which \($0.runner == name ? "it" : $0.runner) has" } ?? ""
            return "\(name) waits after \(placed(step))\(isDetached ? ", whose command has not called `done`" : holder)"
        }.joined(separator: "; ")
    }

    // MARK: Crashes

    /// How a crash is handled otherwise. Written once, before any schedule.
    nonisolated(unsafe) private static var crashHandlers: [CInt: sigaction] = [:]

    /// Prints the schedule in which the process crashes.
    static func reportCrashes() {
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT] {
            unsafe sigaction(number, nil, &crashHandlers[number, default: sigaction()])
            signal(number) { _ in
                // The crash goes on as it would have: the instruction is run again, with the handler from before.
                for (number, var handler) in unsafe Run.crashHandlers { unsafe sigaction(number, &handler, nil) }
                guard let run = Runner.current?.run else { return }
                // First what needs least.
                let replay = "everySchedule(replaying: \"\(run.search.replay)\")"
                writeToStandardError("\neverySchedule: a crash in this schedule, replay it with \(replay)")
                writeToStandardError(run.story)
            }
        }
    }
}
#endif
