//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Lifetime: a value lives as long as anything that can use it, and no longer")
struct KeptForUseTests {
    // MARK: What keeps it

    /// Nothing but the schedule or the commands are left when the command is called: each comes out of a function.
    @Test("Schedules and commands that are kept keep the value, with all that happened to it")
    func schedules() async throws {
        #expect(Kept.waitSchedule().lowestPriority.set { $0 += 1 } == .success(2))
        #expect(Kept.timedSchedule().lowestPriority.get() == .success(1))
        let wait = Kept.waitCommands()
        #expect(wait.set { $0 += 1 } == .success(2))
        #expect(wait.set { $0 += 1 } == .success(3))
        #expect(await Kept.awaitSchedule().highestPriority.set { $0 += 1 } == .success(2))
        let awaited = Kept.awaitCommands()
        #expect(await awaited.set { $0 += 1 } == .success(2))
        #expect(await awaited.get() == .success(2))
        let answers = try inTime {
            let answers = Log<Answer>()
            let group = DispatchGroup()
            let commands = Kept.asyncCommands()
            for _ in 0..<2 {
                group.enter()
                commands.set {
                    $0 += 1
                } completion: { answer in
                    answers.add(answer)
                    group.leave()
                }
            }
            group.enter()
            Kept.asyncSchedule().highestPriority.set(newValue: 7) { answer in
                answers.add(answer)
                group.leave()
            }
            group.wait()
            return answers.entries
        }
        // On a concurrent queue a completion may come after that of the next command.
        #expect(try answers.map { try $0.get() }.sorted() == [2, 3, 7])
    }

    @Test("What keeps a value is let go with the value")
    func letGo() throws {
        let tally = Counted.Tally()
        do {
            let commands = QueueSafeValue(value: Counted(tally: tally)).wait.lowestPriority
            #expect(tally.alive == 1)
            #expect(commands.map { $0.id } == .success(0))
            #expect(tally.alive == 1)
        }
        #expect(tally.alive == 0)
    }

    @Test("Schedules and priorities that are kept keep the value, and all their commands succeed")
    func kept() throws {
        var value: QueueSafeValue<Int>? = QueueSafeValue(value: 1)
        let wait = value!.wait
        let commands = wait.highestPriority
        let async = value!.async(performIn: DispatchQueue(label: "target")).lowestPriority
        #expect(commands.set { $0 += 1 } == .success(2))
        value = nil
        #expect(commands.get() == .success(2))
        #expect(wait.lowestPriority.set(newValue: 3) == .success(3))
        #expect(commands.set { $0 += 1 } == .success(4))
        #expect(
            commands.set {
                $0 += 1; $1()
            } == .success(5)
        )
        #expect(commands.map { $0 * 10 } == .success(50))
        var told: [Result<Int, QueueSafeValueError>] = []
        commands.get { told.append($0) }
        commands.get { result, done in
            told.append(result)
            done()
        }
        #expect(told == [.success(5), .success(5)])
        let answers = Log<Result<Int, QueueSafeValueError>>()
        try inTime {
            let group = DispatchGroup()
            let tell: @Sendable (Result<Int, QueueSafeValueError>) -> Void = { result in
                answers.add(result)
                group.leave()
            }
            for _ in 0..<6 { group.enter() }
            async.get(completion: tell)
            async.get { result, done in
                tell(result)
                done()
            }
            async.set(newValue: 6, completion: tell)
            async.set(accessClosure: { $0 += 1 }, completion: tell)
            async.set(
                manualCompletion: {
                    $0 += 1; $1()
                },
                completion: tell
            )
            async.get(manualCompletion: { _, done in done() }, completion: tell)
            group.wait()
        }
        #expect(answers.entries == [5, 5, 6, 7, 8, 8].map { .success($0) })
    }

    @Test("The schedules of the synced and the asynced container keep the value as well")
    func otherContainers() throws {
        var synced: QueueSafeSyncedValue<Int>? = QueueSafeSyncedValue(value: 1)
        let wait = synced!.lowestPriority
        synced = nil
        #expect(wait.set { $0 += 1 } == .success(2))
        let answer = try inTime {
            var asynced: QueueSafeAsyncedValue<Int>? = QueueSafeAsyncedValue(value: 1, queue: DispatchQueue(label: "a"))
            let async = asynced!.highestPriority
            asynced = nil
            let answer = Log<Result<Int, QueueSafeValueError>>()
            let end = Door()
            async.get { result in
                answer.add(result)
                end.open()
            }
            end.waitUntilOpen()
            return answer.entries
        }
        #expect(answer == [.success(1)])
    }

    // MARK: What does not: handles of commands that are over

    @Test(
        "A handle of a command that is over keeps neither its owner nor the value",
        arguments: OwnersCommand.allCases
    )
    func handleOfFinished(form: OwnersCommand) throws {
        try expectNothingKept { owner in
            let end = Door()
            form.submit(owner, end)
            end.waitUntilOpen()
        }
    }

    /// The queue is suspended, so that the command waits when it is cancelled, and goes on after.
    @Test("Nor does the handle of a cancelled one", arguments: OwnersCommand.allCases, [false, true])
    func handleOfCancelled(form: OwnersCommand, isOneOfAll: Bool) throws {
        try expectNothingKept { owner in
            owner.queue.suspend()
            form.submit(owner, Door())
            let isCancelled =
                isOneOfAll
                ? owner.value.cancelAllPendingCommands() == 1
                : owner.handle.wrappedValue?.cancel() == true
            #expect(isCancelled)
            owner.queue.resume()
        }
    }

    @Test("The value that a command replaced goes away while the handle is kept and the value lives")
    func replaced() throws {
        let tally = Counted.Tally()
        let value = QueueSafeValue(value: Counted(1, tally: tally))
        let queue = DispatchQueue(label: "target")
        let end = Door()
        let handle = value.async(performIn: queue).lowestPriority.set(newValue: Counted(2, tally: tally)) { _ in
            end.open()
        }
        let silent = value.async(performIn: queue).lowestPriority.set(newValue: Counted(3, tally: tally))
        try inTime {
            end.waitUntilOpen()
            try poll("only the last is left") { tally.alive == 1 }
        }
        #expect(value.wait.lowestPriority.map { $0.id } == .success(3))
        withExtendedLifetime((handle, silent)) {}
    }

    /// If the command kept a copy, the next change in place would copy the value, however large it is.
    @Test("The value that a command sets is kept by nobody else", arguments: [false, true])
    func set(isTold: Bool) throws {
        final class Box: Sendable {}
        let value = QueueSafeValue(value: Box())
        let queue = DispatchQueue(label: "target")
        let answers = Log<Bool>()
        let end = Door()
        value.suspend()
        let commands = value.async(performIn: queue).lowestPriority
        if isTold { commands.set(newValue: Box()) { _ in } } else { commands.set(newValue: Box()) }
        commands.set { box in
            answers.add(isKnownUniquelyReferenced(&box))
            end.open()
        }
        value.resume()
        try inTime { end.waitUntilOpen() }
        #expect(answers.entries == [true])
    }

    /// Lets an owner submit a command of which it keeps the handle, as programs do to cancel it, and lets go of the
    /// owner.
    private func expectNothingKept(_ use: @escaping @Sendable (CommandOwner) throws -> Void) throws {
        let tally = Counted.Tally()
        try inTime {
            let handles: [CommandHandle<Void>?]
            do {
                let owner = CommandOwner(tally)
                try use(owner)
                owner.queue.sync {}
                handles = [owner.handle.wrappedValue]
            }
            try poll("the owner, its value and what its commands captured are gone") { tally.alive == 0 }
            withExtendedLifetime(handles) {}
        }
    }
}

/// Functions that return a part of a command's sentence, whose value nobody else has.
private enum Kept {
    static func waitSchedule() -> WaitSchedule<Int> { QueueSafeValue(value: 1).wait }
    static func timedSchedule() -> WaitSchedule<Int> { QueueSafeValue(value: 1).wait(timeout: .seconds(300)) }
    static func waitCommands() -> WaitCommands<Int> { QueueSafeValue(value: 1).wait.lowestPriority }
    static func asyncSchedule() -> AsyncSchedule<Int> { QueueSafeValue(value: 1).async(performIn: .utility) }
    static func asyncCommands() -> AsyncCommands<Int> { asyncSchedule().lowestPriority }
    static func awaitSchedule() -> AwaitSchedule<Int> { QueueSafeValue(value: 1).async }
    static func awaitCommands() -> AwaitCommands<Int> { awaitSchedule().lowestPriority }
}

/// An owner of a value, which keeps the handle of the last command so that it may cancel it.
final class CommandOwner: Sendable {
    let value: QueueSafeValue<Counted>
    let queue = DispatchQueue(label: "owner")
    let handle = Protected<CommandHandle<Void>?>(nil)
    private let counted: Counted

    init(_ tally: Counted.Tally) {
        value = QueueSafeValue(value: Counted(tally: tally))
        counted = Counted(tally: tally)
    }
}

/// How an owner submits a command whose closures use the owner itself.
enum OwnersCommand: CaseIterable, Sendable {
    case get
    case getManually
    case set
    case setWithoutCompletion
    case setManually

    func submit(_ owner: CommandOwner, _ end: Door) {
        let commands = owner.value.async(performIn: owner.queue).lowestPriority
        switch self {
        case .get:
            owner.handle.write(
                commands.get { _ in withExtendedLifetime(owner) { end.open() } }
            )
        case .getManually:
            owner.handle.write(
                commands.get { _, done in
                    withExtendedLifetime(owner) { done() }
                } completion: { _ in
                    withExtendedLifetime(owner) { end.open() }
                }
            )
        case .set:
            owner.handle.write(
                commands.set {
                    withExtendedLifetime(($0, owner)) {}
                } completion: { _ in
                    withExtendedLifetime(owner) { end.open() }
                }
            )
        case .setWithoutCompletion:
            owner.handle.write(commands.set { withExtendedLifetime(($0, owner)) { end.open() } })
        case .setManually:
            owner.handle.write(
                commands.set { counted, done in
                    withExtendedLifetime((counted, owner)) { done() }
                } completion: { _ in
                    withExtendedLifetime(owner) { end.open() }
                }
            )
        }
    }
}
