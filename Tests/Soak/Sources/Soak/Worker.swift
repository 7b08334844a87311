//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

/// A thread's part of a round: commands of every kind, in an order that its seed decides.
struct Worker {
    let index: Int
    let round: Round
    let values: [QueueSafeValue<Account>]
    let register: QueueSafeValue<Int>
    var random: Random
    var counts = Counts()
    private var number = 0
    private var handles: [(handle: CommandHandle<Void>, ticket: Ticket, isSilent: Bool)] = []

    init(
        _ index: Int,
        _ round: Round,
        _ values: [QueueSafeValue<Account>],
        _ register: QueueSafeValue<Int>,
        seed: UInt64
    ) {
        self.index = index
        self.round = round
        self.values = values
        self.register = register
        random = Random(seed: seed)
    }

    mutating func run() {
        while !round.isOver {
            round.waitForRoom()
            switch random.below(20) {
            case 0..<6: wait()
            case 6..<9: waitTimed()
            case 9..<16: submit()
            case 16: cancelSome()
            case 17: waitForItself()
            case 18: takeTwo()
            default: useRegister()
            }
        }
        handles = []
        round.findings.add(counts)
    }
}

// Waiting.

extension Worker {
    private mutating func wait() {
        counts.add(.wait)
        let value = random.below(Round.valueCount)
        carryOut(values[value].wait.priority(randomPriority()), value, allowed: [])
    }

    private mutating func waitTimed() {
        counts.add(.timed)
        let value = random.below(Round.valueCount)
        let limit = [0, 1_000, 30_000, 1_000_000][random.below(4)]
        let wait = values[value].wait(timeout: .nanoseconds(limit)).priority(randomPriority())
        if carryOut(wait, value, allowed: [.timedOut]) == .timedOut { counts.add(.timedOut) }
    }

    @discardableResult
    private mutating func carryOut(
        _ wait: WaitCommands<Account>,
        _ value: Int,
        allowed: [QueueSafeValueError]
    ) -> QueueSafeValueError? {
        let form = random.below(10)
        let isChange = form < 6
        let ticket = Ticket(
            isChange ? 1 + random.below(1_000) : 0,
            of: round,
            value: value,
            allowed: allowed + (form == 1 ? [.unexpected(error: Refusal())] : form == 2 ? [.completionDropped] : [])
        )
        let result: Result<Account, QueueSafeValueError>
        switch form {
        case 0:
            result = wait.update { account in
                ticket.enter(&account)
                ticket.leave()
                return account
            }
        case 1:
            counts.add(.closureThrows)
            result = wait.set { account in
                ticket.enter(&account)
                ticket.leave()
                throw Refusal()
            }
        case 2:
            counts.add(.doneDropped)
            result = wait.set { account, _ in
                ticket.enter(&account)
                ticket.leave()
            }
        case 3, 4, 5:
            let end = ending()
            result = wait.set { account, done in
                ticket.enter(&account)
                end(ticket, done)
            }
        case 6:
            var told: Result<Account, QueueSafeValueError>?
            wait.get { result in
                ticket.read(result)
                told = result
            }
            result = told!
        case 7:
            result = wait.get { result, done in
                ticket.read(result)
                done()
            }
        case 8:
            result = wait.map { account in
                ticket.read(.success(account))
                return account
            }
        default:
            // No closure tells that it ran, nor what it saw.
            result = wait.get()
            if case .success = result { ticket.ran() }
        }
        ticket.isAnswered(result)
        if case .failure(let error) = result { return error }
        return nil
    }

    /// A manual command's end, in one of several ways.
    private mutating func ending() -> @Sendable (Ticket, @escaping CommandCompletionClosure) -> Void {
        let elsewhere = round.elsewhere
        switch random.below(4) {
        case 0:
            counts.add(.doneTwice)
            return { ticket, done in
                ticket.leave()
                done()
                done()
                elsewhere.async { done() }
            }
        case 1:
            counts.add(.doneLate)
            let delay = random.below(200)
            return { ticket, done in
                elsewhere.asyncAfter(deadline: .now() + .microseconds(delay)) {
                    ticket.leave()
                    done()
                }
            }
        default:
            return { ticket, done in
                ticket.leave()
                done()
            }
        }
    }
}

// Submitting.

extension Worker {
    private mutating func submit() {
        counts.add(.async)
        let value = random.below(Round.valueCount)
        let queue = random.below(round.queues.count)
        let priority = randomPriority()
        number += 1
        let form = random.below(8)
        var allowed: [QueueSafeValueError] = [.cancelled]
        if form == 2 { allowed.append(.unexpected(error: Refusal())) }
        if form == 3 { allowed.append(.completionDropped) }
        let ticket = Ticket(
            form < 6 ? 1 + random.below(1_000) : 0,
            of: round,
            value: value,
            stream: Stream(worker: index, queue: queue, priority: priority.rawValue),
            number: number,
            allowed: allowed
        )
        let commands = values[value].async(performIn: round.queues[queue]).priority(priority)
        let handle: CommandHandle<Void>
        switch form {
        case 0:
            let body: @Sendable (inout Account) -> Void = { account in
                ticket.enter(&account)
                ticket.leave()
                ticket.isAnswered(.success(()))
            }
            handle = random.below(2) == 0 ? commands.set(body) : commands.update(body)
        case 1:
            handle = commands.set(
                accessClosure: { account in
                    ticket.enter(&account)
                    ticket.leave()
                },
                completion: ticket.answer
            )
        case 2:
            counts.add(.closureThrows)
            handle = commands.set(
                accessClosure: { account in
                    ticket.enter(&account)
                    ticket.leave()
                    throw Refusal()
                },
                completion: ticket.answer
            )
        case 3:
            counts.add(.doneDropped)
            handle = commands.set(
                manualCompletion: { account, _ in
                    ticket.enter(&account)
                    ticket.leave()
                },
                completion: ticket.answer
            )
        case 4, 5:
            let end = ending()
            handle = commands.set(
                manualCompletion: { account, done in
                    ticket.enter(&account)
                    end(ticket, done)
                },
                completion: ticket.answer
            )
        case 6:
            handle = commands.get { result in
                ticket.read(result)
                ticket.isAnswered(result)
            }
        default:
            handle = commands.get(
                manualCompletion: { result, done in
                    ticket.read(result)
                    done()
                },
                completion: ticket.answer
            )
        }
        if random.below(4) == 0 { handles.append((handle, ticket, form == 0)) }
    }

    /// Cancels commands that were submitted a while ago, of which many have started.
    private mutating func cancelSome() {
        for (handle, ticket, isSilent) in handles where random.below(2) == 0 {
            guard handle.cancel() else { continue }
            counts.add(.cancelled)
            round.findings.require(handle.state == .cancelled, "a cancelled command says that it is \(handle.state)")
            if isSilent { ticket.isAnswered(Result<Void, QueueSafeValueError>.failure(.cancelled)) }
        }
        handles = []
    }
}

// Mistakes.

extension Worker {
    private mutating func waitForItself() {
        counts.add(.wait)
        counts.add(.reentrant)
        let value = random.below(Round.valueCount)
        let ticket = Ticket(1, of: round, value: value)
        let container = values[value]
        let result = container.wait.priority(randomPriority()).set { account in
            ticket.enter(&account)
            if container.wait.highestPriority.map(completion: { $0.sum }) != .failure(.reentrantCommand) {
                round.findings.violation("a command inside itself was not refused")
            }
            ticket.leave()
        }
        ticket.isAnswered(result)
    }

    /// Takes two values in an order that differs from one worker to the next: some of them close a circle.
    private mutating func takeTwo() {
        counts.add(.wait)
        counts.add(.wait)
        let isForward = random.below(2) == 0
        let (one, other) = isForward ? (0, 1) : (1, 0)
        let outer = Ticket(1, of: round, value: one)
        let inner = Ticket(1, of: round, value: other, allowed: [.circularWait])
        let priorities = (randomPriority(), randomPriority())
        var isCircle = false
        let result = values[one].wait.priority(priorities.0).set { account in
            outer.enter(&account)
            let result = values[other].wait.priority(priorities.1).set { account in
                inner.enter(&account)
                inner.leave()
            }
            if case .failure(.circularWait) = result { isCircle = true }
            inner.isAnswered(result)
            outer.leave()
        }
        if isCircle { counts.add(.circle) }
        outer.isAnswered(result)
    }

    /// Whole values, replaced and read: all are multiples of seven.
    private mutating func useRegister() {
        counts.add(.wait)
        let new = 7 * random.below(1 << 20)
        let result: Result<Int, QueueSafeValueError>
        switch random.below(3) {
        case 0:
            result = register.wait.priority(randomPriority()).set(newValue: new)
            round.findings.require(result == .success(new), "set \(new), and got \(result)")
        case 1: result = register.wait.priority(randomPriority()).get()
        default:
            let findings = round.findings
            counts.add(.async)
            register.async(performIn: round.queues[random.below(3)]).priority(randomPriority()).set(newValue: new) {
                findings.require($0 == .success(new), "set \(new), and got \($0)")
            }
            result = register.wait.priority(randomPriority()).get()
        }
        round.findings.require((try? result.get())?.isMultiple(of: 7) == true, "the register has \(result)")
    }

    private mutating func randomPriority() -> CommandPriority {
        CommandPriority.allCases[random.below(5)]
    }
}
