//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The language of scenarios:
//
//     name [option, option]: action; action | action of the next thread
//
// A command is `wait`, `async` and the number of its queue, `task`, or `closure` for a task with an async closure; behind
// that its priority, what its closure does, `on` and the number of its value, and for how long it may wait.

extension Scenario {
    init(_ line: String) {
        let colon = line.firstIndex(of: ":")!
        let title = line[..<colon].split(separator: "[")
        text = line[line.index(after: colon)...].split(separator: "|")
        name = String(title[0].reversed().drop { $0 == " " }.reversed())
        var reader = ScenarioReader()
        threads = text.map { reader.actions(in: $0) }
        commands = reader.commands.values.sorted { $0.index < $1.index }
        guard title.count > 1 else { return }
        for option in title[1].dropLast().split(separator: ",") {
            let words = option.split(separator: " ").map(String.init)
            let numbers = words.compactMap { Int($0) }
            switch words[0] {
            case "queues": queues = numbers
            case "main": main = numbers[0]
            // A little more than the numbers of the rules, so that something is late, or owed the turn.
            case "jumps":
                jumps = words.dropFirst().map { ($0 == "late" ? HandoffPolicy.late : HandoffPolicy.fair) + 1_000 }
            case "haste": haste = numbers[0]
            case "batch": batch = numbers[0]
            case "looks": looks = numbers[0]
            case "limit": limit = numbers[0]
            case "listened": isListenedTo = true
            case "unseen": linesAreUnseen = true
            case "stale": staleLoads = numbers[0]
            case "preemptions": preemptions = numbers[0]
            default: fatalError("What is \(words[0])?")
            }
        }
    }
}

private struct ScenarioReader {
    private(set) var commands: [Int: Command] = [:]
    private var words: ArraySlice<Substring> = []
    private var count = 0

    mutating func actions(in text: Substring) -> [Action] {
        text.split(separator: ";").map { action in
            words = action.split(separator: " ")[...]
            return self.action(inside: [], of: nil)
        }
    }

    private mutating func number() -> Int {
        guard let number = words.first.flatMap({ Int($0) }) else { return 0 }
        words.removeFirst()
        return number
    }

    private func priority(_ word: Substring) -> CommandPriority? {
        CommandPriority.allCases.first { "\($0)" == word }
    }

    /// What stands in braces.
    private mutating func inner(inside held: [Int], of parent: Int) -> Action {
        words.removeFirst()
        defer { words.removeFirst() }
        return action(inside: held, of: parent)
    }

    private mutating func action(inside held: [Int], of parent: Int?) -> Action {
        let word = words.removeFirst()
        switch word {
        case "wait": return command(.wait, held, parent)
        case "async": return command(.queue(number()), held, parent)
        case "task": return command(.task(isAsync: false), held, parent)
        case "closure": return command(.task(isAsync: true), held, parent)
        case "both": return .both
        case "lock": return .lock(isTimed: false)
        case "lockInTime": return .lock(isTimed: true)
        case "beTask": return .beTask
        case "release": return .release(number())
        case "suspend": return .suspend(number())
        case "resume": return .resume(number())
        case "listen": return .listen(number(), true)
        case "unlisten": return .listen(number(), false)
        case "stop": return .setQueueSuspended(number(), true)
        case "start": return .setQueueSuspended(number(), false)
        case "await": return .await(number())
        case "handle": return .awaitHandle(number())
        case "cancel": return .cancel(number())
        case "change":
            let index = number()
            return .changePriority(index, priority(words.removeFirst())!)
        case "cancelAll": return .cancelAll(number())
        case "cancelTask": return .cancelTask(number())
        case "complete": return .complete(.calling)
        case "completeTwice": return .complete(.callingTwice)
        case "drop": return .complete(.dropping)
        default: fatalError("What is \(word)?")
        }
    }

    private mutating func command(_ kind: Command.Kind, _ held: [Int], _ parent: Int?) -> Action {
        var command = Command(index: count, kind: kind, held: held, parent: parent)
        count += 1
        while let word = words.first, word != "}" {
            words.removeFirst()
            if let priority = priority(word) {
                command.priority = priority
                continue
            }
            switch word {
            case "get": command.body = .get
            case "fail": command.body = .fail
            case "done": command.body = .manual(.calling)
            case "doneTwice": command.body = .manual(.callingTwice)
            case "dropped": command.body = .manual(.dropping)
            case "left": command.body = .left
            case "when": command.body = .when(UInt64(number()))
            // A worker has nothing else.
            case "doing":
                let others = command.isAsync ? [] : held
                command.body = .then(inner(inside: others + [command.value], of: command.index))
            case "tells":
                let isInner = words.first == "{"
                command.report = isInner ? .then(inner(inside: [], of: command.index)) : .closure
            case "on": command.value = number()
            case "briefly": command.timeout = 1_000
            case "looking": command.timeout = 0
            default: fatalError("What is \(word)?")
            }
        }
        commands[command.index] = command
        return .command(command)
    }
}
