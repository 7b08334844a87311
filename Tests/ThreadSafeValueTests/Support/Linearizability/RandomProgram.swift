//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// A command, wherever it runs.
struct Command: Sendable {
    enum Place: Sendable {
        case wait
        /// Waits for so many nanoseconds at most.
        case waitUpTo(Int)
        /// Goes to one of the queues.
        case async(queue: Int)
        case awaited
    }

    enum Form: CaseIterable, Sendable {
        case get, getInClosure, getManually, map
        case replace, change, changeSilently, changeAndThrow, changeManually, changeAndDrop
    }

    var place: Place
    var form: Form
    var priority: CommandPriority
    var salt: Int
    /// Whether it is cancelled soon after it was submitted, if that can be.
    var isCancelled: Bool
    /// Whether `done` is called on another thread.
    var isDoneElsewhere: Bool
    /// For how long its closure runs, and how long it is until it is cancelled, in nanoseconds.
    var duration: UInt64

    var effect: Effect {
        switch form {
        case .get, .getInClosure, .getManually, .map: .read
        case .replace: .replace(salt)
        case .change, .changeSilently, .changeAndThrow, .changeManually, .changeAndDrop: .mix(salt)
        }
    }
}

/// What some threads do, each one step after the other; all of it follows from the seed.
struct RandomProgram: Sendable {
    enum Step: Sendable {
        case command(Command)
        case suspend
        case resume
        case pause(nanoseconds: UInt64)
    }

    static let queues = 3

    let seed: UInt64
    let threads: [[Step]]

    init(seed: UInt64, operations: Int = 24) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        let count = Int.random(in: 2...4, using: &random)
        threads = (0..<count).map { _ in Self.steps(operations / count, using: &random) }
    }
}

extension RandomProgram {
    private static func steps(_ operations: Int, using random: inout SeededRandom) -> [Step] {
        var steps: [Step] = []
        var missing = operations
        // While this thread has the value suspended, it must not wait for it.
        var untilResume: Int?
        while missing > 0 {
            if Int.random(in: 0..<4, using: &random) == 0 {
                steps.append(.pause(nanoseconds: .random(in: 0..<3_000, using: &random)))
            }
            missing -= 1
            if let left = untilResume {
                untilResume = left == 0 ? nil : left - 1
                steps.append(left == 0 ? .resume : .command(command(isBrief: true, using: &random)))
            } else if missing > 4, Int.random(in: 0..<10, using: &random) == 0 {
                untilResume = .random(in: 0...3, using: &random)
                steps.append(.suspend)
            } else if Int.random(in: 0..<60, using: &random) == 0 {
                steps.append(.resume)
            } else {
                steps.append(.command(command(isBrief: false, using: &random)))
            }
        }
        return steps
    }

    private static func command(isBrief: Bool, using random: inout SeededRandom) -> Command {
        let queue = Int.random(in: 0..<queues, using: &random)
        let limit = [0, 20_000, 200_000].randomElement(using: &random)!
        let places: [Command.Place] =
            isBrief
            ? [.async(queue: queue), .waitUpTo(min(limit, 20_000))]
            : [.wait, .wait, .wait, .waitUpTo(limit), .async(queue: queue), .async(queue: queue), .awaited]
        return Command(
            place: places.randomElement(using: &random)!,
            form: Command.Form.allCases.randomElement(using: &random)!,
            priority: CommandPriority.allCases.randomElement(using: &random)!,
            salt: .random(in: 1...1_000_000, using: &random),
            isCancelled: Int.random(in: 0..<4, using: &random) == 0,
            isDoneElsewhere: .random(using: &random),
            duration: .random(in: 0..<1_500, using: &random)
        )
    }
}
