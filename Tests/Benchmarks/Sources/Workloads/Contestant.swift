//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Dispatch
import Members

/// One way to do what others in its `Contest` do differently.
public struct Contestant: Sendable {
    /// How reports call it.
    public let name: String

    /// Whether it is this library, or something else.
    public let isOurs: Bool

    /// How many operations to do between two looks at the clock; `nil` for as many as suit the clock.
    public let batch: Int?

    /// Makes a value that nobody has used, for one round.
    public let prepare: @Sendable (Setting) -> Round

    private init(
        _ name: String,
        isOurs: Bool,
        batch: Int? = nil,
        prepare: @escaping @Sendable (Setting) -> Round
    ) {
        self.name = name
        self.isOurs = isOurs
        self.batch = batch
        self.prepare = prepare
    }
}

/// A value, and what to do with it.
public struct Round: Sendable {
    /// Does so many operations, and returns when all of them have had their effect. Called on many threads at once.
    public let run: @Sendable (_ operations: Int) -> Void

    /// How many changes the value has seen, if operations change it: none may be lost.
    public let changes: (@Sendable () -> Int)?

    init(run: @escaping @Sendable (Int) -> Void, changes: (@Sendable () -> Int)? = nil) {
        self.run = run
        self.changes = changes
    }
}

/// Contestants that do the same, one after the other in each round.
public struct Contest: Sendable {
    /// How reports call it.
    public let name: String

    /// Who takes part.
    public let contestants: [Contestant]

    /// Where it is held.
    public let settings: [Setting]

    /// All contests.
    public static let all = [changes, reads, lookups, held1, held64, heldForNothing, submissions, awaits]
}

/// Uses a number, so that the compiler cannot leave out what it is made of.
public func use(_ number: Int) {
    machine_use(Int64(number))
}

// The loops around the forms, one of each kind.
extension Contestant {
    init<Form: Changing>(_ name: String, isOurs: Bool = false, changing form: Form.Type) {
        self.init(name, isOurs: isOurs) { _ in
            let member = Form()
            return Round {
                for _ in 0..<$0 { member.change() }
            } changes: {
                member.total
            }
        }
    }

    init<Form: Reading>(_ name: String, isOurs: Bool = false, reading form: Form.Type) {
        self.init(name, isOurs: isOurs) { _ in
            let member = Form()
            return Round {
                var sum = 0
                for _ in 0..<$0 { sum &+= member.read() }
                use(sum)
            }
        }
    }

    /// Holds the value for a time, and does something else for a time.
    init<Form: Holding>(
        _ name: String,
        isOurs: Bool = false,
        holding form: Form.Type,
        for held: Double,
        pausing pause: Double
    ) {
        self.init(name, isOurs: isOurs) { _ in
            let member = Form()
            let (held, pause) = (Work(nanoseconds: held), Work(nanoseconds: pause))
            return Round {
                for _ in 0..<$0 {
                    member.change(for: held)
                    pause.perform()
                }
            } changes: {
                member.total
            }
        }
    }

    /// Submits many changes without waiting for each, then waits until all of them are done on a serial queue.
    init<Form: Submitting>(_ name: String, isOurs: Bool = false, submitting form: Form.Type) {
        self.init(name, isOurs: isOurs, batch: 10_000) { setting in
            let queue = DispatchQueue(label: "target")
            let member = Form(to: queue)
            return Round { operations in
                let end = DispatchSemaphore(value: 0)
                queue.async { setting.placeWorker() }
                for _ in 0..<operations { member.submit(1) }
                member.submitLast { end.signal() }
                end.wait()
            } changes: {
                member.total
            }
        }
    }

    /// Lets the tasks of the setting share the work.
    init<Form: Awaiting>(_ name: String, isOurs: Bool = false, awaiting form: Form.Type) {
        self.init(name, isOurs: isOurs, batch: 10_000) { setting in
            let member = Form()
            return Round { operations in
                inTask {
                    await withDiscardingTaskGroup { group in
                        for index in 0..<setting.tasks {
                            group.addTask {
                                setting.placeWorker()
                                let share = operations / setting.tasks + (index < operations % setting.tasks ? 1 : 0)
                                for _ in 0..<share { await member.change() }
                            }
                        }
                    }
                }
            } changes: {
                let total = Total()
                inTask { total.number = await member.total }
                return total.number
            }
        }
    }
}

private final class Total: @unchecked Sendable {
    // Written by a task, and read when that has ended.
    var number = 0
}

/// Runs a task for a thread, which waits for it.
private func inTask(_ body: @escaping @Sendable () async -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task {
        await body()
        end.signal()
    }
    end.wait()
}
