//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import ThreadSafeValue

/// A task's part of a round: awaited commands, some of whose tasks are cancelled.
struct TaskWorker: Sendable {
    let round: Round
    let values: [QueueSafeValue<Account>]
    var random: Random

    func run() async {
        var random = self.random
        var counts = Counts()
        while !round.isOver {
            counts.add(.awaited)
            let value = random.below(Round.valueCount)
            let commands = values[value].async.priority(CommandPriority.allCases[random.below(5)])
            let form = random.below(5)
            let isCancelled = random.below(16) == 0
            if form == 3 { counts.add(.closureThrows) }
            let ticket = Ticket(
                form > 1 ? 1 + random.below(1_000) : 0,
                of: round,
                value: value,
                allowed: (isCancelled ? [.cancelled] : []) + (form == 3 ? [.unexpected(error: Refusal())] : [])
            )
            guard isCancelled else {
                await Self.carryOut(commands, form, ticket)
                continue
            }
            counts.add(.taskCancelled)
            let task = Task { await Self.carryOut(commands, form, ticket) }
            if random.below(2) == 0 { await Task.yield() }
            task.cancel()
            await task.value
        }
        round.findings.add(counts)
    }

    private static func carryOut(_ commands: AwaitCommands<Account>, _ form: Int, _ ticket: Ticket) async {
        let result: Result<Account, QueueSafeValueError>
        switch form {
        case 0:
            result = await commands.get()
            if case .success = result { ticket.ran() }
        case 1:
            result = await commands.map { account in
                ticket.read(.success(account))
                return account
            }
        case 2, 3:
            result = await commands.set { account in
                ticket.enter(&account)
                ticket.leave()
                if form == 3 { throw Refusal() }
            }
        default:
            result = await commands.set { account in
                ticket.enter(&account)
                await Task.yield()
                ticket.leave()
            }
        }
        ticket.isAnswered(result)
    }
}
