//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Scenario {
    /// Rule 5: a little more than that, so that what is on its way is late.
    private static var late: UInt64 { HandoffPolicy.late + 1_000 }
    private static var fair: UInt64 { HandoffPolicy.fair + 1_000 }

    /// The scenarios that are explored exhaustively.
    static let all =
        turns + lines + lates + batches + suspensions + cancellations + timeouts + manuals + lives + mistakes
        + conditions
        + listeners + places

    // Rules 1 to 4: to take a turn, to wait for it, to release it, to be owed it.
    private static var turns: [Scenario] {
        [
            Scenario("two waits", threads: [[.wait()], [.wait()]]),
            Scenario("three waits", threads: [[.wait()], [.wait()], [.wait()]]),
            Scenario("waits of three priorities", threads: [[.wait(.lowest)], [.wait(.medium)], [.wait(.highest)]]),
            Scenario("waits that come again", threads: [[.wait(), .wait()], [.wait(), .wait()]]),
            Scenario("waits that look twice", looks: 2, threads: [[.wait()], [.wait()]]),
            Scenario(
                "an equal barges, and the front is owed the turn",
                jumps: [fair],
                preemptions: 3,
                threads: [[.wait(), .wait()], [.wait()], [.wait()]]
            ),
            Scenario("two tasks", threads: [[.task()], [.task()]]),
            Scenario("a task and a wait", threads: [[.task()], [.wait(), .wait()]]),
            Scenario(
                "tasks of two priorities and a wait",
                threads: [[.task(.lowest)], [.task(.high)], [.wait(.high)]]
            ),
            Scenario("an async closure and a task", threads: [[.task(isAsync: true)], [.task(.highest)]]),
            Scenario("a command and a wait", queues: [1], threads: [[.async(0)], [.wait()]]),
            Scenario("a command and a task", queues: [1], threads: [[.async(0)], [.task()]]),
            Scenario(
                "a command, and a wait that is more urgent",
                queues: [1],
                threads: [[.async(0)], [.wait(.highest)]]
            ),
            Scenario(
                "a command that is more urgent, and a wait",
                queues: [1],
                threads: [[.async(0, .high)], [.wait()]]
            ),
            Scenario("own writes are seen", queues: [1], threads: [[.async(0), .wait()]]),
            Scenario(
                "own writes are seen beside others",
                queues: [1],
                preemptions: 3,
                threads: [[.async(0, .medium), .wait()], [.wait()]]
            ),
            Scenario(
                "own writes are seen behind a thread",
                queues: [1],
                preemptions: 2,
                threads: [[.async(0), .wait()], [.wait()], [.wait()]]
            ),
            Scenario("own writes are seen by a task", queues: [1], threads: [[.async(0), .task()]]),
            Scenario("two threads submit", queues: [1], threads: [[.async(0)], [.async(0)]]),
            Scenario("two queues", queues: [1, 1], preemptions: 3, threads: [[.async(0)], [.async(1)]]),
        ]
    }

    // Order: the most urgent first, then the first that came.
    private static var lines: [Scenario] {
        [
            Scenario(
                "one queue, three priorities",
                queues: [1],
                threads: [[.async(0, .lowest), .async(0, .highest), .async(0, .medium)]]
            ),
            Scenario(
                "two queues and a wait between them",
                queues: [1, 1],
                preemptions: 3,
                threads: [[.async(0, .lowest), .async(1, .highest)], [.wait(.medium)]]
            ),
            Scenario(
                "a wait between commands of one queue",
                queues: [1],
                preemptions: 4,
                threads: [[.async(0), .async(0)], [.wait()]]
            ),
            Scenario(
                "two values at once, and each alone",
                threads: [[.both(.lowest)], [.wait(on: 0), .wait(on: 1)]]
            ),
        ]
    }

    // Rule 5: what is late loses its place until it comes.
    private static var lates: [Scenario] {
        [
            Scenario(
                "a queue is late",
                queues: [1],
                haste: 2,
                preemptions: 3,
                threads: [[.async(0), .wait()]]
            ),
            Scenario(
                "a queue stands still",
                queues: [1],
                threads: [[.setQueueSuspended(0, true), .async(0), .wait(), .setQueueSuspended(0, false)]]
            ),
            Scenario(
                "a queue stands still and was handed the turn",
                queues: [1],
                threads: [
                    [
                        .wait(.lowest, .then(.async(0))), .setQueueSuspended(0, true), .wait(.highest),
                        .setQueueSuspended(0, false),
                    ]
                ]
            ),
            Scenario(
                "two queues stand still, and one comes back",
                queues: [1, 1],
                preemptions: 3,
                threads: [
                    [
                        .setQueueSuspended(0, true), .setQueueSuspended(1, true), .async(0), .async(1), .wait(),
                        .setQueueSuspended(0, false), .wait(), .setQueueSuspended(1, false),
                    ]
                ]
            ),
            Scenario(
                "a late queue gets more commands",
                queues: [1],
                haste: 1,
                preemptions: 3,
                threads: [[.async(0), .async(0, .high), .wait(), .async(0)]]
            ),
            Scenario(
                "a task is late",
                haste: 2,
                preemptions: 3,
                threads: [[.task()], [.wait(), .wait(.medium)], [.wait(.highest)]]
            ),
            Scenario(
                "a queue and a task are late",
                queues: [1],
                haste: 2,
                preemptions: 2,
                threads: [[.task()], [.async(0), .wait()]]
            ),
            Scenario(
                "a wait in the report of a command",
                queues: [1],
                preemptions: 2,
                threads: [[.async(0, tells: .then(.wait())), .async(0)]]
            ),
            Scenario(
                "a wait below a block that was handed the turn",
                queues: [1],
                preemptions: 3,
                threads: [[.async(0, tells: .then(.wait())), .async(0, .high)], [.wait()]]
            ),
            Scenario(
                "the main thread waits",
                queues: [0],
                main: 0,
                threads: [[.async(0), .wait()]]
            ),
            Scenario(
                "the main thread waits, and others submit to its queue",
                queues: [0],
                main: 0,
                threads: [[.wait()], [.async(0), .wait()]]
            ),
        ]
    }

    // Rule 6: batches, and blocks that are replaced.
    private static var batches: [Scenario] {
        [
            Scenario("a batch of three", queues: [1], threads: [[.async(0), .async(0), .async(0)]]),
            Scenario(
                "a batch and something that is more urgent",
                queues: [1],
                batch: 3,
                preemptions: 3,
                threads: [[.async(0), .async(0), .async(0)], [.wait(.highest)]]
            ),
            Scenario(
                "a batch that tells",
                queues: [1],
                batch: 3,
                threads: [[.async(0, tells: .closure), .async(0, tells: .closure)]]
            ),
            Scenario(
                "a batch that tells, and a wait",
                queues: [1],
                batch: 3,
                preemptions: 4,
                threads: [[.async(0, tells: .closure), .async(0, tells: .closure)], [.wait()]]
            ),
            Scenario(
                "a block tells one caller for long",
                queues: [2],
                haste: 3,
                threads: [[.async(0, tells: .then(.await(1))), .async(0)]]
            ),
            Scenario(
                "a block tells one caller for long, who comes back while others run",
                queues: [2],
                haste: 2,
                batch: 3,
                preemptions: 2,
                threads: [[.async(0, tells: .closure), .async(0, tells: .closure), .async(0), .wait()]]
            ),
            Scenario(
                "a report waits whose block was replaced",
                queues: [2],
                haste: 3,
                preemptions: 2,
                threads: [[.async(0, tells: .then(.wait())), .async(0)], [.wait()]]
            ),
            Scenario(
                "a command submits another",
                queues: [1],
                threads: [[.async(0, .lowest, .then(.async(0)))]]
            ),
            Scenario(
                "a report submits another",
                queues: [1],
                threads: [[.async(0, tells: .then(.async(0)))]]
            ),
        ]
    }

    // Rule 7.
    private static var suspensions: [Scenario] {
        [
            Scenario("a suspension and waits", threads: [[.suspend(0), .resume(0), .wait()], [.wait()]]),
            Scenario("two suspensions", threads: [[.suspend(0), .suspend(0), .resume(0), .resume(0)], [.wait()]]),
            Scenario(
                "a suspension and a command",
                queues: [1],
                threads: [[.async(0), .suspend(0), .resume(0)]]
            ),
            Scenario(
                "a suspension and a batch",
                queues: [1],
                threads: [[.async(0), .async(0)], [.suspend(0), .resume(0)]]
            ),
            Scenario(
                "a suspension of a block that was handed the turn",
                queues: [1],
                preemptions: 3,
                threads: [[.async(0), .suspend(0), .resume(0)], [.wait(.highest)]]
            ),
            Scenario("a suspension and a task", threads: [[.suspend(0), .resume(0)], [.task()], [.task(.high)]]),
            Scenario(
                "a suspension and a late queue",
                queues: [1],
                haste: 2,
                preemptions: 2,
                threads: [[.async(0), .suspend(0), .resume(0)], [.wait()]]
            ),
        ]
    }

    private static var cancellations: [Scenario] {
        [
            Scenario("a command is cancelled", queues: [1], threads: [[.async(0, tells: .closure), .cancel(0)]]),
            Scenario(
                "a command is cancelled beside a wait",
                queues: [1],
                threads: [[.async(0), .cancel(0)], [.wait()]]
            ),
            Scenario(
                "one of two commands is cancelled",
                queues: [1],
                threads: [[.async(0, tells: .closure), .async(0)], [.cancel(0)]]
            ),
            Scenario(
                "a command is cancelled by two",
                queues: [1],
                threads: [[.async(0), .cancel(0)], [.cancel(0)]]
            ),
            Scenario(
                "all are cancelled",
                queues: [1],
                preemptions: 2,
                threads: [[.async(0), .async(0, .high)], [.cancelAll(0)], [.wait()]]
            ),
            Scenario("waiting threads are cancelled", threads: [[.wait()], [.wait()], [.cancelAll(0)]]),
            Scenario("waiting tasks are cancelled", threads: [[.task()], [.task()], [.cancelAll(0)]]),
            Scenario("a task is cancelled", threads: [[.task()], [.wait(), .cancelTask(0)]]),
            Scenario(
                "a task is cancelled by two ways",
                threads: [[.task()], [.wait(), .cancelTask(0)], [.cancelAll(0)]]
            ),
            Scenario(
                "a task is cancelled while the value is suspended",
                threads: [[.task()], [.suspend(0), .cancelTask(0), .resume(0)]]
            ),
            Scenario(
                "a handle answers",
                queues: [1],
                threads: [[.async(0), .cancel(0)], [.beTask, .awaitHandle(0)]]
            ),
        ]
    }

    private static var timeouts: [Scenario] {
        [
            Scenario("a wait with a time-out", threads: [[.wait(timeout: 1_000)], [.wait()]]),
            Scenario(
                "a wait that only looks",
                queues: [1],
                threads: [[.async(0), .wait(timeout: 0)], [.wait(timeout: 0)]]
            ),
            Scenario(
                "waits with time-outs",
                preemptions: 3,
                threads: [[.wait(timeout: 1_000)], [.wait(.high, timeout: 1_000)], [.wait()]]
            ),
            Scenario("a task with a time-out", threads: [[.task(timeout: 1_000)], [.wait()]]),
            Scenario(
                "a task with a time-out is cancelled",
                threads: [[.task(timeout: 1_000)], [.wait(), .cancelTask(0)]]
            ),
            Scenario(
                "a wait with a time-out beside a command",
                queues: [1],
                threads: [[.async(0), .wait(timeout: 1_000)]]
            ),
        ]
    }

    private static var manuals: [Scenario] {
        [
            Scenario("a manual wait", threads: [[.wait(.lowest, .manual(.callingTwice))], [.wait()]]),
            Scenario("a manual wait that drops its done", threads: [[.wait(.lowest, .manual(.dropping))], [.wait()]]),
            Scenario(
                "a manual wait that is completed elsewhere",
                threads: [[.wait(.lowest, .left)], [.complete(.calling)], [.wait()]]
            ),
            Scenario(
                "a manual wait whose done is dropped elsewhere",
                threads: [[.wait(.lowest, .left)], [.complete(.dropping)]]
            ),
            Scenario(
                "a manual command",
                queues: [1],
                threads: [[.async(0, .lowest, .manual(.calling), tells: .closure), .wait()]]
            ),
            Scenario(
                "a manual command that drops its done",
                queues: [1],
                threads: [[.async(0, .lowest, .manual(.dropping), tells: .closure), .async(0)]]
            ),
            Scenario(
                "a manual command that is completed elsewhere",
                queues: [1],
                threads: [[.async(0, .lowest, .left, tells: .closure), .async(0)], [.complete(.callingTwice)]]
            ),
            Scenario(
                "a manual command whose done is dropped elsewhere",
                queues: [1],
                preemptions: 3,
                threads: [[.async(0, .lowest, .left, tells: .closure), .wait()], [.complete(.dropping)]]
            ),
            Scenario(
                "two manual commands and a wait",
                queues: [1],
                preemptions: 2,
                threads: [
                    [.async(0, .lowest, .left), .async(0, .lowest, .left)], [.complete(.calling), .complete(.calling)],
                    [.wait()],
                ]
            ),
            Scenario(
                "a suspension and a manual command",
                queues: [1],
                threads: [[.async(0, .lowest, .left), .suspend(0), .resume(0)], [.complete(.calling)]]
            ),
        ]
    }

    private static var lives: [Scenario] {
        [
            Scenario("a value is let go", queues: [1], threads: [[.async(0), .release(0)]]),
            Scenario("a value is let go while threads use it", threads: [[.wait(), .release(0)], [.wait()]]),
            Scenario("a value is let go while tasks use it", threads: [[.task(), .release(0)], [.task()]]),
            Scenario(
                "a suspended value is let go",
                queues: [1],
                threads: [[.async(0, tells: .closure), .suspend(0), .release(0)]]
            ),
            Scenario(
                "a suspended value with commands of two queues is let go",
                queues: [1, 1],
                preemptions: 3,
                threads: [[.async(0), .async(1, .high, tells: .closure)], [.suspend(0), .release(0)]]
            ),
            Scenario(
                "a value is let go with a manual command",
                queues: [1],
                threads: [[.async(0, .lowest, .left, tells: .closure), .release(0)], [.complete(.calling)]]
            ),
            Scenario(
                "a value is let go while a command is cancelled",
                queues: [1],
                threads: [[.async(0, tells: .closure), .suspend(0), .release(0)], [.cancel(0)]]
            ),
            Scenario(
                "a value is let go with a late queue",
                queues: [1],
                haste: 2,
                preemptions: 2,
                threads: [[.async(0), .async(0, .high), .release(0)], [.wait(.medium)]]
            ),
        ]
    }

    private static var mistakes: [Scenario] {
        [
            Scenario(
                "a wait in a wait of the same value",
                threads: [[.wait(.lowest, .then(.wait(.highest)))], [.wait()]]
            ),
            Scenario(
                "a wait in a command of the same value",
                queues: [1],
                threads: [[.async(0, .lowest, .then(.wait()))]]
            ),
            Scenario(
                "a wait in an async closure of the same value",
                threads: [[.task(.lowest, .then(.wait()), isAsync: true)]]
            ),
            Scenario(
                "a handle is awaited in the closure that keeps it waiting",
                queues: [1],
                threads: [[.task(.lowest, .then(.awaitHandle(1)), isAsync: true)], [.async(0)]]
            ),
            Scenario(
                "two threads in a circle",
                haste: 2,
                threads: [[.wait(.lowest, .then(.wait(on: 1)))], [.wait(.lowest, .then(.wait(on: 0)), on: 1)]]
            ),
            Scenario(
                "three threads in a circle",
                preemptions: 3,
                threads: [
                    [.wait(.lowest, .then(.wait(on: 1)))], [.wait(.lowest, .then(.wait(on: 2)), on: 1)],
                    [.wait(.lowest, .then(.wait(on: 0)), on: 2)],
                ]
            ),
            Scenario(
                "a circle that a time-out ends",
                threads: [
                    [.wait(.lowest, .then(.wait(on: 1, timeout: 1_000)))], [.wait(.lowest, .then(.wait(on: 0)), on: 1)],
                ]
            ),
            Scenario(
                "two tasks in a circle",
                threads: [
                    [.task(.lowest, .then(.task(on: 1)), isAsync: true)],
                    [.task(.lowest, .then(.task(on: 0)), isAsync: true, on: 1)],
                ]
            ),
            Scenario(
                "a task and a thread in a circle",
                threads: [
                    [.task(.lowest, .then(.task(on: 1)), isAsync: true)], [.wait(.lowest, .then(.wait(on: 0)), on: 1)],
                ]
            ),
            Scenario(
                "a wait in a task, and an async closure",
                threads: [[.beTask, .wait()], [.task(isAsync: true)]]
            ),
            Scenario(
                "two waits in tasks, and an async closure",
                preemptions: 2,
                threads: [[.beTask, .wait()], [.beTask, .wait(.high)], [.task(isAsync: true)], [.wait()]]
            ),
        ]
    }

    private static var conditions: [Scenario] {
        [
            Scenario("a wait for a condition", threads: [[.wait(.lowest, .when(1))], [.wait()]]),
            Scenario(
                "a wait for a condition that a command meets",
                queues: [1],
                threads: [[.wait(.lowest, .when(1))], [.async(0)]]
            ),
            Scenario("a task for a condition", threads: [[.task(.lowest, .when(1))], [.wait()]]),
            Scenario(
                "two waits for conditions",
                preemptions: 3,
                threads: [[.wait(.lowest, .when(1))], [.wait(.highest, .when(2))], [.wait()]]
            ),
            Scenario(
                "a wait for a condition and a suspension",
                threads: [[.wait(.lowest, .when(1))], [.suspend(0), .resume(0), .wait()]]
            ),
            Scenario(
                "a wait for a condition with a time-out",
                threads: [[.wait(.lowest, .when(1), timeout: 1_000)], [.wait()]]
            ),
            Scenario(
                "a wait for a condition that a manual command meets",
                queues: [1],
                preemptions: 3,
                threads: [[.wait(.lowest, .when(1))], [.async(0, .lowest, .left)], [.complete(.calling)]]
            ),
        ]
    }

    private static var listeners: [Scenario] {
        [
            Scenario("a listener hears of waits", isListenedTo: true, threads: [[.wait()], [.wait(.lowest, .get)]]),
            Scenario(
                "a listener hears of commands",
                queues: [1],
                isListenedTo: true,
                threads: [[.async(0), .async(0, tells: .closure)]]
            ),
            Scenario(
                "a listener begins with the value as it is",
                queues: [1],
                preemptions: 3,
                threads: [[.async(0), .async(0)], [.listenFromNow(0)]]
            ),
            Scenario(
                "a listener begins beside waits",
                preemptions: 3,
                threads: [[.wait()], [.wait()], [.listenFromNow(0)]]
            ),
            Scenario(
                "a listener begins beside a manual wait",
                threads: [[.wait(.lowest, .left)], [.complete(.calling)], [.listenFromNow(0)]]
            ),
            Scenario(
                "a listener begins beside a condition",
                preemptions: 3,
                threads: [[.wait(.lowest, .when(1))], [.wait()], [.listenFromNow(0)]]
            ),
            Scenario(
                "a listener comes and goes",
                threads: [[.wait(), .wait()], [.listen(0, true), .listen(0, false)]]
            ),
            Scenario(
                "a listener begins with a suspended value",
                queues: [1],
                preemptions: 3,
                threads: [[.async(0), .suspend(0), .resume(0)], [.listenFromNow(0)]]
            ),
        ]
    }

    // A bound for what waits.
    private static var places: [Scenario] {
        [
            Scenario(
                "a place for one command",
                queues: [1],
                limit: 1,
                threads: [[.async(0)], [.async(0, tells: .closure)]]
            ),
            Scenario("a place for one task", limit: 1, preemptions: 3, threads: [[.task()], [.task()], [.task()]]),
        ]
    }
}
