//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

/// What carries out the commands of a program: the library, or something that is broken on purpose.
protocol Subject: Sendable {
    /// Carries out or submits a command, and tells the record what its closure found and what was answered.
    func carryOut(_ command: Command, _ record: OperationRecord)

    func suspend()

    /// Returns whether there was something to resume.
    func resume() -> Bool
}

/// Where all subjects run what does not run on the caller's thread.
enum Places {
    static let queues = [
        DispatchQueue(label: "serial"), DispatchQueue(label: "other"),
        DispatchQueue(label: "concurrent", attributes: .concurrent),
    ]
    static let elsewhere = DispatchQueue(label: "elsewhere")
}

/// Keeps the thread busy, as a closure that does something would.
func work(nanoseconds: UInt64) {
    let end = now() + nanoseconds
    while now() < end {}
}

/// The library.
struct LibrarySubject: Subject {
    private let value = QueueSafeValue(value: 0)

    func suspend() { value.suspend() }

    func resume() -> Bool { (try? value.resume().get()) != nil }

    func carryOut(_ command: Command, _ record: OperationRecord) {
        switch command.place {
        case .wait: wait(value.wait.priority(command.priority), command, record)
        case .waitUpTo(let time):
            wait(value.wait(timeout: .nanoseconds(time)).priority(command.priority), command, record)
        case .async(let queue):
            let commands = value.async(performIn: Places.queues[queue]).priority(command.priority)
            let handle = submit(commands, command, record)
            guard command.isCancelled else { return }
            work(nanoseconds: command.duration)
            let isCancelled = handle.cancel()
            record.isCancelled(isCancelled)
            // Nobody else tells of a command without a completion.
            if command.form == .changeSilently, isCancelled { record.isAnswered(.nothing) }
        case .awaited:
            let end = DispatchSemaphore(value: 0)
            let task = OwnThreads.run {
                await awaited(value.async.priority(command.priority), command, record)
                end.signal()
            }
            if command.isCancelled {
                work(nanoseconds: command.duration)
                task.cancel()
            }
            end.wait()
        }
    }

    private func wait(_ wait: WaitCommands<Int>, _ command: Command, _ record: OperationRecord) {
        let result: Result<Int, QueueSafeValueError>
        switch command.form {
        case .get: result = wait.get()
        case .getInClosure:
            var told: Result<Int, QueueSafeValueError>?
            wait.get { number in
                work(nanoseconds: command.duration)
                told = number
            }
            result = told!
        case .getManually: result = wait.get { _, done in command.complete(done) }
        case .map:
            result = wait.map { number in
                work(nanoseconds: command.duration)
                return number
            }
        case .replace: result = wait.set(newValue: command.salt)
        case .change, .changeSilently: result = wait.set { command.change(&$0, record) }
        case .changeAndThrow:
            result = wait.set {
                command.change(&$0, record)
                throw Refusal()
            }
        case .changeManually:
            result = wait.set { number, done in
                command.change(&number, record)
                command.complete(done)
            }
        case .changeAndDrop: result = wait.set { number, _ in command.change(&number, record) }
        }
        record.isAnswered(result, to: command)
    }

    private func submit(_ async: AsyncCommands<Int>, _ command: Command, _ record: OperationRecord) -> CommandHandle<
        Void
    > {
        let tell: @Sendable (Result<Int, QueueSafeValueError>) -> Void = { record.isAnswered($0, to: command) }
        switch command.form {
        case .get, .getInClosure, .map:
            return async.get { result in
                work(nanoseconds: command.duration)
                tell(result)
            }
        case .getManually: return async.get(manualCompletion: { command.complete($1) }, completion: tell)
        case .replace: return async.set(newValue: command.salt, completion: tell)
        case .change: return async.set(accessClosure: { command.change(&$0, record) }, completion: tell)
        case .changeSilently:
            return async.set {
                command.change(&$0, record)
                record.isAnswered(.done)
            }
        case .changeAndThrow:
            return async.set(
                accessClosure: {
                    command.change(&$0, record)
                    throw Refusal()
                },
                completion: tell
            )
        case .changeManually:
            return async.set(
                manualCompletion: { number, done in
                    command.change(&number, record)
                    command.complete(done)
                },
                completion: tell
            )
        case .changeAndDrop:
            return async.set(manualCompletion: { number, _ in command.change(&number, record) }, completion: tell)
        }
    }

    private func awaited(_ async: AwaitCommands<Int>, _ command: Command, _ record: OperationRecord) async {
        let result: Result<Int, QueueSafeValueError>
        switch command.form {
        case .get, .getInClosure, .getManually: result = await async.get()
        case .map: result = await async.map { $0 }
        case .replace: result = await async.set(newValue: command.salt)
        case .change, .changeSilently: result = await async.set { command.change(&$0, record) }
        case .changeAndThrow:
            result = await async.set {
                command.change(&$0, record)
                throw Refusal()
            }
        case .changeManually, .changeAndDrop:
            result = await async.set { number in
                command.change(&number, record)
                if command.isDoneElsewhere { await Task.yield() }
            }
            // A body that awaits has no `done` that could be dropped.
            if case .success(let number) = result { return record.isAnswered(.number(number)) }
        }
        record.isAnswered(result, to: command)
    }
}

extension Command {
    /// What the command's closure does.
    func change(_ number: inout Int, _ record: OperationRecord) {
        record.sees(number)
        work(nanoseconds: duration)
        number = effect(number)
    }

    func complete(_ done: @escaping CommandCompletionClosure) {
        if isDoneElsewhere { Places.elsewhere.async { done() } } else { done() }
    }
}
