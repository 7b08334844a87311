//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Scenario {
    // A little more than the bounds, so that the single nanoseconds which keep commands apart do not count.
    private static var barging: UInt64 { HandoffPolicy().barging + 1_000 }
    private static var keeping: UInt64 { HandoffPolicy().keeping + 1_000 }

    /// The scenarios that are explored exhaustively.
    static var all: [Scenario] {
        waits + asyncs + mixtures + manuals + lives + bounds + ownOrder + late + mistakes + endings + suspensions
            + listening + grants + tasks
    }

    /// Commands of one queue that report.
    private static func tells(_ count: Int) -> [Action] {
        Array(repeating: .async(.lowest, 0, .set, .closure), count: count)
    }

    // Async closures, whose tasks take the turn when their executors let them go on.
    private static var tasks: [Scenario] {
        [
            Scenario("a task and a wait", queues: [1], threads: [[.task(.lowest, 0)], [.wait(.lowest)]]),
            Scenario(
                "a task whose executor is late, and waits",
                queues: [1],
                jumps: [keeping],
                preemptions: 2,
                threads: [[.task(.lowest, 0), .wait(.lowest)], [.wait(.highest)]]
            ),
            Scenario(
                "two tasks of one executor, and a wait",
                queues: [1],
                jumps: [keeping],
                preemptions: 2,
                threads: [[.task(.lowest, 0), .task(.highest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "two tasks of two executors, and a command",
                queues: [1, 1],
                jumps: [keeping],
                preemptions: 1,
                threads: [[.task(.lowest, 0), .async(.lowest, 1)], [.task(.lowest, 1)]]
            ),
            Scenario(
                "a task that is cancelled",
                queues: [1],
                preemptions: 3,
                threads: [[.task(.lowest, 0), .cancel(0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a task that is cancelled while it is late",
                queues: [1, 1],
                jumps: [keeping],
                preemptions: 1,
                threads: [[.task(.lowest, 0), .async(.lowest, 1), .cancel(0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a task and a suspension",
                queues: [1],
                preemptions: 2,
                threads: [[.task(.lowest, 0), .suspend(0), .resume(0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a task that executors hold up, and waits",
                queues: [1],
                time: 2 * HandoffPolicy().keeping,
                preemptions: 3,
                threads: [
                    [.suspendQueue(0), .task(.highest, 0), .task(.highest, 0), .wait(.lowest), .resumeQueue(0)]
                ]
            ),
            Scenario(
                "a submitted task and a wait",
                queues: [1],
                preemptions: 3,
                threads: [[.startedTask(.lowest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "submitted tasks and commands, and something urgent",
                queues: [1],
                preemptions: 1,
                threads: [
                    [.startedTask(.lowest, 0), .async(.lowest, 0), .startedTask(.lowest, 0)], [.async(.highest, 0)],
                ]
            ),
            Scenario(
                "a submitted task that is late, and waits",
                queues: [2],
                jumps: [keeping],
                preemptions: 1,
                threads: [[.startedTask(.lowest, 0), .wait(.lowest)], [.wait(.highest)]]
            ),
            Scenario(
                "a submitted task that is cancelled",
                queues: [1],
                preemptions: 2,
                threads: [[.startedTask(.lowest, 0), .async(.lowest, 0), .cancel(0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a submitted task of a value that is let go, suspended or not",
                queues: [1],
                preemptions: 2,
                threads: [[.startedTask(.lowest, 0), .suspend(0), .release(0)]]
            ),
        ]
    }

    // A block that begins commands without the lock of the line, while something else changes that.
    private static var grants: [Scenario] {
        [
            Scenario(
                "a thread that is more urgent than what was granted",
                queues: [1],
                batch: 4,
                preemptions: 2,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0)], [.wait(.highest)]]
            ),
            Scenario(
                "granted commands that tell, and a newcomer",
                queues: [1],
                batch: 4,
                preemptions: 2,
                threads: [tells(3), [.wait(.lowest)]]
            ),
            Scenario(
                "granted commands that tell, and one that is more urgent",
                queues: [1],
                batch: 4,
                preemptions: 2,
                threads: [tells(3), [.async(.highest, 0)]]
            ),
            Scenario(
                "granted commands that tell, and a queue that stands still then",
                queues: [1],
                jumps: [keeping],
                batch: 4,
                preemptions: 2,
                threads: [
                    [
                        .async(.lowest, 0, .set, .closure), .async(.lowest, 0, .set, .closure), .async(.lowest, 0),
                        .wait(.lowest),
                    ]
                ]
            ),
            Scenario(
                "a block that was given up comes back beside one with a grant",
                queues: [2],
                jumps: [keeping],
                batch: 4,
                preemptions: 2,
                threads: [tells(3) + [.async(.lowest, 0)]]
            ),
            Scenario(
                "granted commands whose report waits",
                queues: [2],
                batch: 4,
                preemptions: 2,
                threads: [
                    [
                        .async(.lowest, 0, .set, .then(.wait(.lowest))), .async(.lowest, 0, .set, .closure),
                        .async(.lowest, 0, .set, .closure), .async(.lowest, 0, .set, .closure),
                    ]
                ]
            ),
            Scenario(
                "a granted command that is left",
                queues: [1],
                batch: 4,
                preemptions: 3,
                threads: [
                    [.async(.lowest, 0), .async(.lowest, 0, .left), .async(.lowest, 0)], [.complete(.calling)],
                ]
            ),
            Scenario(
                "the last granted command is left",
                queues: [1],
                batch: 4,
                preemptions: 3,
                threads: [
                    [.async(.lowest, 0), .async(.lowest, 0, .left, .closure), .release(0)], [.complete(.calling)],
                ]
            ),
            Scenario(
                "granted commands of a value that is suspended and let go",
                queues: [1],
                batch: 4,
                preemptions: 3,
                threads: [
                    [.async(.lowest, 0, .set, .closure), .async(.lowest, 0), .async(.lowest, 0, .set, .closure)],
                    [.suspend(0), .release(0)],
                ]
            ),
            Scenario(
                "a granted command submits another",
                queues: [1],
                batch: 4,
                preemptions: 3,
                threads: [
                    [
                        .async(.lowest, 0), .async(.lowest, 0, .then(.async(.highest, 0))), .async(.lowest, 0),
                    ]
                ]
            ),
            Scenario(
                "granted commands, and another queue",
                queues: [1, 1],
                batch: 4,
                preemptions: 2,
                threads: [
                    [.async(.lowest, 0, .set, .closure), .async(.lowest, 0), .async(.lowest, 0)],
                    [.async(.lowest, 1), .cancel(3)],
                ]
            ),
        ]
    }

    private static var endings: [Scenario] {
        [
            Scenario("a time-out", threads: [[.waitBriefly(.lowest)], [.wait(.lowest), .wait(.lowest)]]),
            Scenario(
                "two time-outs",
                preemptions: 5,
                threads: [[.waitBriefly(.lowest)], [.waitBriefly(.highest)], [.wait(.lowest)]]
            ),
            Scenario(
                "a time-out of the most urgent",
                queues: [1],
                preemptions: 4,
                threads: [[.waitBriefly(.highest)], [.async(.lowest, 0), .async(.lowest, 0, .set, .closure)]]
            ),
            Scenario(
                "a time-out during a manual command",
                threads: [[.wait(.lowest, .left)], [.complete(.calling)], [.waitBriefly(.lowest, .manual(.calling))]]
            ),
            Scenario(
                "a time-out of the one that may be passed",
                jumps: [barging],
                preemptions: 2,
                threads: [[.wait(.lowest), .wait(.lowest)], [.wait(.lowest)], [.waitBriefly(.highest)]]
            ),
            Scenario(
                "a cancelled command",
                queues: [1],
                threads: [[.async(.lowest, 0, .set, .closure)], [.cancel(0)], [.wait(.lowest)]]
            ),
            Scenario(
                "one of a run is cancelled",
                queues: [1],
                batch: 3,
                preemptions: 3,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0)], [.cancel(1), .cancel(2)]]
            ),
            Scenario(
                "one that tells is cancelled twice",
                queues: [1],
                threads: [[.async(.lowest, 0), .async(.highest, 0, .get, .closure)], [.cancel(1)], [.cancel(1)]]
            ),
            Scenario(
                "a stale wake of a reused parker",
                preemptions: 4,
                threads: [[.waitBriefly(.lowest), .wait(.lowest)], [.wait(.lowest), .wait(.highest)]]
            ),
            Scenario(
                "a stale wake of a reused parker, in a manual command",
                preemptions: 4,
                threads: [[.waitBriefly(.lowest), .wait(.lowest, .left)], [.wait(.lowest)], [.complete(.calling)]]
            ),
            Scenario(
                "a stale wake of a reused parker, for another value",
                preemptions: 3,
                threads: [[.waitBriefly(.lowest), .wait(.lowest, on: 1)], [.wait(.lowest), .wait(.lowest, on: 1)]]
            ),
            Scenario(
                "cancelled while the value goes away",
                queues: [1],
                preemptions: 4,
                threads: [[.async(.lowest, 0, .set, .closure), .release(0)], [.cancel(0)], [.wait(.highest)]]
            ),
        ]
    }

    private static var suspensions: [Scenario] {
        [
            Scenario("a value held back", threads: [[.suspend(0), .resume(0)], [.wait(.lowest)], [.wait(.highest)]]),
            Scenario(
                "a value held back, and a queue",
                queues: [1],
                threads: [[.suspend(0), .resume(0)], [.async(.lowest, 0), .async(.highest, 0, .set, .closure)]]
            ),
            Scenario(
                "a run held back",
                queues: [1],
                batch: 3,
                preemptions: 3,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0)], [.suspend(0), .resume(0)]]
            ),
            Scenario(
                "a value held back twice",
                threads: [[.suspend(0), .resume(0)], [.suspend(0), .resume(0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a value held back, and a manual command",
                queues: [1],
                preemptions: 2,
                threads: [
                    [.suspend(0), .resume(0)], [.wait(.lowest, .left)], [.complete(.calling)], [.async(.lowest, 0)],
                ]
            ),
            Scenario(
                "a value held back while a wait is out of time",
                preemptions: 4,
                threads: [[.suspend(0), .resume(0)], [.waitBriefly(.highest), .wait(.lowest)], [.wait(.lowest)]]
            ),
        ]
    }

    private static var waits: [Scenario] {
        [
            Scenario("two waits", threads: [[.wait(.lowest)], [.wait(.highest)]]),
            Scenario("two waits that look twice", spins: 1, threads: [[.wait(.lowest)], [.wait(.lowest)]]),
            Scenario(
                "three waits",
                preemptions: 4,
                threads: [[.wait(.lowest)], [.wait(.highest, .get)], [.wait(.lowest, .fail)]]
            ),
            Scenario("three equal waits", threads: [[.wait(.lowest)], [.wait(.lowest)], [.wait(.lowest)]]),
            Scenario(
                "two threads with two waits each",
                threads: [[.wait(.lowest), .wait(.highest)], [.wait(.lowest), .wait(.lowest, .map)]]
            ),
        ]
    }

    private static var listening: [Scenario] {
        [
            Scenario(
                "listening to waits",
                listening: .waiting,
                threads: [[.wait(.lowest), .release(0)], [.wait(.highest)]]
            ),
            Scenario(
                "listening to waits, one of which reads",
                listening: .waiting,
                preemptions: 4,
                threads: [[.wait(.lowest, .get)], [.wait(.lowest, .left), .release(0)], [.complete(.calling)]]
            ),
            Scenario(
                "listening to a run",
                queues: [1],
                batch: 3,
                listening: .waiting,
                preemptions: 3,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0, .set, .closure), .release(0)]]
            ),
            Scenario(
                "listening to a wait and a run",
                queues: [1],
                listening: .waiting,
                preemptions: 2,
                threads: [[.async(.lowest, 0), .async(.lowest, 0, .get), .release(0)], [.wait(.lowest)]]
            ),
            Scenario(
                "listening to a run that is held back",
                queues: [1],
                listening: .waiting,
                preemptions: 3,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .release(0)], [.suspend(0), .resume(0)]]
            ),
            Scenario(
                "listening while a command is cancelled",
                queues: [1],
                listening: .waiting,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .cancel(1), .release(0)]]
            ),
            Scenario(
                "listening while a wait is out of time",
                listening: .waiting,
                threads: [[.wait(.lowest), .release(0)], [.waitBriefly(.highest)]]
            ),
            Scenario(
                "listening to a lane of two, and a newcomer",
                queues: [1],
                listening: .waiting,
                preemptions: 2,
                threads: [[.async(.highest, 0), .async(.highest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "listening to a lane of two, and an equal newcomer",
                queues: [1],
                jumps: [barging],
                listening: .waiting,
                preemptions: 1,
                threads: [[.async(.lowest, 0), .async(.lowest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "listening to a lane of three, always behind",
                queues: [1],
                batch: 3,
                listening: .behind,
                preemptions: 4,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0, .set, .closure), .release(0)]]
            ),
            Scenario(
                "a listener comes and goes",
                queues: [1],
                listening: .waiting,
                preemptions: 2,
                threads: [[.async(.lowest, 0), .wait(.lowest)], [.listen(0, true), .listen(0, false)]]
            ),
            Scenario(
                "a listener comes while the value goes",
                queues: [1],
                listening: .waiting,
                threads: [[.wait(.lowest), .release(0)], [.listen(0, true)]]
            ),
            Scenario(
                "listening while a queue is late",
                queues: [1, 1],
                jumps: [keeping],
                listening: .waiting,
                preemptions: 2,
                threads: [[.suspendQueue(0), .async(.highest, 0), .async(.lowest, 1), .release(0), .resumeQueue(0)]]
            ),
        ]
    }

    private static var asyncs: [Scenario] {
        [
            Scenario("one async", queues: [1], threads: [[.async(.lowest, 0, .set, .closure)]]),
            Scenario(
                "two threads, one serial queue",
                queues: [1],
                threads: [[.async(.lowest, 0)], [.async(.highest, 0, .set, .closure)]]
            ),
            Scenario(
                "two threads with two commands each, one serial queue",
                queues: [1],
                preemptions: 3,
                threads: [
                    [.async(.lowest, 0), .async(.highest, 0)],
                    [.async(.lowest, 0, .set, .closure), .async(.lowest, 0, .fail)],
                ]
            ),
            Scenario(
                "one concurrent queue",
                queues: [2],
                preemptions: 3,
                threads: [[.async(.lowest, 0), .async(.lowest, 0, .set, .closure)], [.async(.highest, 0, .get)]]
            ),
            Scenario(
                "two queues",
                queues: [1, 1],
                threads: [[.async(.lowest, 0)], [.async(.highest, 1, .fail, .closure)]]
            ),
            Scenario(
                "two queues, three commands",
                queues: [1, 1],
                preemptions: 2,
                threads: [[.async(.lowest, 0), .async(.highest, 1)], [.async(.lowest, 1)]]
            ),
            Scenario(
                "a queue that looks for more",
                queues: [1],
                spins: 1,
                threads: [[.async(.lowest, 0), .async(.lowest, 0)]]
            ),
            Scenario(
                "a queue that looks for more, and a wait",
                queues: [1],
                spins: 1,
                preemptions: 3,
                threads: [[.async(.lowest, 0), .async(.lowest, 0)], [.wait(.lowest)]]
            ),
        ]
    }

    private static var mixtures: [Scenario] {
        [
            Scenario(
                "a wait and an async",
                queues: [1],
                threads: [[.wait(.lowest)], [.async(.highest, 0, .set, .closure)]]
            ),
            Scenario("an urgent wait and an async", queues: [1], threads: [[.wait(.highest)], [.async(.lowest, 0)]]),
            Scenario(
                "two waits and an async",
                queues: [1],
                preemptions: 2,
                threads: [[.wait(.lowest)], [.async(.highest, 0)], [.wait(.highest)]]
            ),
            Scenario(
                "a wait and two asyncs",
                queues: [1, 1],
                preemptions: 2,
                threads: [[.wait(.highest)], [.async(.lowest, 0)], [.async(.lowest, 1)]]
            ),
            Scenario(
                "a run that something urgent interrupts",
                queues: [1],
                batch: 3,
                preemptions: 3,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0)], [.wait(.highest)]]
            ),
            Scenario(
                "a run that a report interrupts",
                queues: [1],
                preemptions: 3,
                threads: [[.async(.lowest, 0, .set, .closure), .async(.lowest, 0, .set, .closure)], [.wait(.lowest)]]
            ),
            Scenario(
                "a run that reaches its bound",
                queues: [1],
                batch: 1,
                preemptions: 3,
                threads: [[.async(.highest, 0), .async(.highest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "an async inside a wait",
                queues: [1],
                threads: [[.wait(.lowest, .then(.async(.highest, 0)))], [.wait(.lowest)]]
            ),
            Scenario(
                "reports that wait, on a queue with room for two",
                queues: [2],
                jumps: [keeping],
                preemptions: 1,
                threads: [
                    Array(repeating: .async(.lowest, 0, .set, .then(.wait(.lowest))), count: 2) + [.async(.lowest, 0)]
                ]
            ),
            Scenario(
                "a report that waits while others have the turn",
                queues: [2],
                preemptions: 2,
                threads: [
                    [.async(.lowest, 0, .set, .then(.wait(.lowest))), .async(.lowest, 0)], [.wait(.highest)],
                ]
            ),
            Scenario(
                "a report that waits",
                queues: [1],
                threads: [[.async(.lowest, 0, .set, .then(.wait(.highest)))], [.wait(.lowest)]]
            ),
        ]
    }

    private static var manuals: [Scenario] {
        [
            Scenario("a manual wait", threads: [[.wait(.lowest, .manual(.callingTwice))], [.wait(.highest)]]),
            Scenario(
                "a manual wait that is dropped",
                threads: [[.wait(.lowest, .manual(.dropping))], [.wait(.highest)]]
            ),
            Scenario(
                "a manual wait that another thread completes",
                threads: [[.wait(.lowest, .left)], [.complete(.callingTwice)], [.wait(.lowest)]]
            ),
            Scenario(
                "a manual wait that another thread drops",
                threads: [[.wait(.lowest, .left)], [.complete(.dropping)], [.wait(.highest)]]
            ),
            Scenario(
                "a manual async",
                queues: [1],
                preemptions: 3,
                threads: [[.async(.lowest, 0, .manual(.calling), .closure), .async(.highest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a manual async that another thread completes",
                queues: [1],
                preemptions: 4,
                threads: [[.async(.lowest, 0, .left, .closure)], [.complete(.calling)], [.wait(.highest)]]
            ),
            Scenario(
                "a manual async that another thread drops, and its queue",
                queues: [1],
                threads: [[.async(.lowest, 0, .left), .async(.lowest, 0)], [.complete(.dropping)]]
            ),
            Scenario(
                "two manual commands",
                queues: [1],
                preemptions: 3,
                threads: [
                    [.async(.lowest, 0, .left, .closure)], [.complete(.calling), .complete(.dropping)],
                    [.wait(.lowest, .left)],
                ]
            ),
        ]
    }

    private static var lives: [Scenario] {
        [
            Scenario(
                "let go while two wait",
                threads: [[.wait(.lowest), .release(0)], [.wait(.highest)], [.release(0)]]
            ),
            Scenario(
                "let go while asyncs wait",
                queues: [1],
                threads: [[.async(.lowest, 0), .async(.lowest, 0, .set, .closure), .release(0)]]
            ),
            Scenario(
                "let go with a wait and an async",
                queues: [1],
                preemptions: 4,
                threads: [[.wait(.lowest)], [.async(.highest, 0, .set, .closure), .release(0)]]
            ),
            Scenario(
                "let go inside a command",
                queues: [1],
                threads: [[.wait(.lowest, .then(.release(0)))], [.async(.highest, 0)]]
            ),
            Scenario(
                "let go during a manual command",
                queues: [1],
                preemptions: 4,
                threads: [
                    [.async(.lowest, 0, .left, .closure), .release(0)], [.complete(.calling)], [.async(.lowest, 0)],
                ]
            ),
            Scenario(
                "let go while a queue stands still",
                queues: [1, 1],
                preemptions: 2,
                threads: [
                    [.suspendQueue(0), .async(.highest, 0), .async(.lowest, 1), .release(0), .resumeQueue(0)]
                ]
            ),
            Scenario(
                "suspended and let go",
                queues: [1],
                threads: [[.suspend(0), .async(.lowest, 0, .set, .closure), .async(.highest, 0), .release(0)]]
            ),
            Scenario(
                "suspended and let go while a block drains",
                queues: [1],
                preemptions: 4,
                threads: [
                    [.async(.lowest, 0), .async(.lowest, 0, .get), .suspend(0), .release(0)], [.async(.lowest, 0)],
                ]
            ),
            Scenario(
                "suspended and let go by two",
                queues: [1, 1],
                preemptions: 3,
                threads: [
                    [.async(.lowest, 0, .set, .closure), .suspend(0), .release(0)],
                    [.async(.lowest, 1, .set, .closure)],
                ]
            ),
            Scenario(
                "suspended and let go while its command is cancelled",
                queues: [1],
                preemptions: 4,
                threads: [[.suspend(0), .async(.lowest, 0, .set, .closure), .release(0)], [.cancel(0)]]
            ),
            Scenario(
                "suspended and let go during a manual command",
                queues: [1],
                preemptions: 4,
                threads: [
                    [.async(.lowest, 0, .left, .closure), .async(.lowest, 0, .get), .suspend(0), .release(0)],
                    [.complete(.calling)],
                ]
            ),
            Scenario(
                "listening to one that is suspended and let go",
                queues: [1],
                listening: .waiting,
                preemptions: 4,
                threads: [
                    [.async(.lowest, 0), .suspend(0), .async(.lowest, 0, .set, .closure), .release(0)],
                    [.listen(0, true)],
                ]
            ),
        ]
    }

    private static var bounds: [Scenario] {
        [
            Scenario(
                "passed for a while",
                jumps: [barging],
                threads: [[.wait(.lowest), .wait(.lowest)], [.wait(.lowest)]]
            ),
            Scenario(
                "passed by two",
                jumps: [barging],
                preemptions: 3,
                threads: [[.wait(.lowest), .wait(.lowest)], [.wait(.lowest)], [.wait(.lowest)]]
            ),
            Scenario(
                "passed by one that was held up, while fewer wait",
                jumps: [barging],
                preemptions: 2,
                threads: [
                    [.wait(.highest), .wait(.highest)], [.wait(.highest), .look(.lowest)], [.wait(.highest)],
                ]
            ),
            Scenario(
                "passed while a more urgent one comes and goes",
                queues: [1],
                jumps: [barging],
                preemptions: 1,
                threads: [[.wait(.lowest), .wait(.lowest)], [.wait(.lowest)], [.async(.highest, 0)]]
            ),
            Scenario(
                "passed while a more urgent one is submitted",
                queues: [1, 1],
                jumps: [barging],
                batch: 1,
                preemptions: 1,
                threads: [
                    [.suspendQueue(0), .async(.lowest, 0), .async(.highest, 1)], [.wait(.lowest), .wait(.lowest)],
                    [.join(0), .join(1), .resumeQueue(0)],
                ]
            ),
            Scenario(
                "a suspended queue that would be next",
                queues: [1],
                threads: [[.suspendQueue(0), .async(.highest, 0), .wait(.lowest)], [.join(0), .resumeQueue(0)]]
            ),
            Scenario(
                "a suspended queue and two waits",
                queues: [1],
                threads: [
                    [.suspendQueue(0), .async(.highest, 0)], [.wait(.lowest)], [.join(0), .join(1), .resumeQueue(0)],
                ]
            ),
            Scenario(
                "a suspended queue and another",
                queues: [1, 1],
                preemptions: 4,
                threads: [
                    [.suspendQueue(0), .async(.highest, 0), .async(.lowest, 1)],
                    [.join(0), .wait(.lowest), .resumeQueue(0)],
                ]
            ),
            Scenario(
                "a queue that is late",
                queues: [1],
                jumps: [keeping],
                threads: [[.async(.highest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a queue that is late, with more to do",
                queues: [1],
                jumps: [keeping],
                preemptions: 2,
                threads: [[.async(.highest, 0), .async(.lowest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a queue, late before its block is sent",
                queues: [1, 1],
                jumps: [keeping],
                preemptions: 1,
                threads: [[.wait(.lowest, .then(.async(.highest, 0)))], [.async(.lowest, 1)], [.release(0)]]
            ),
            Scenario(
                "two queues, late before a block is sent",
                queues: [1, 1],
                jumps: [keeping],
                preemptions: 1,
                threads: [[.wait(.lowest)], [.async(.highest, 0), .async(.lowest, 1), .release(0)]]
            ),
        ]
    }

    private static var ownOrder: [Scenario] {
        [
            Scenario(
                "own writes",
                queues: [1],
                preemptions: 3,
                threads: [[.async(.lowest, 0), .wait(.lowest, .get)], [.wait(.lowest)]]
            ),
            Scenario(
                "own writes that are more urgent",
                queues: [1],
                preemptions: 3,
                threads: [[.async(.highest, 0), .wait(.lowest, .get)], [.async(.lowest, 0)]]
            ),
            Scenario(
                "own writes on two queues",
                queues: [1, 1],
                preemptions: 2,
                threads: [[.async(.lowest, 0), .async(.lowest, 1), .wait(.lowest, .get)], [.wait(.lowest)]]
            ),
            Scenario(
                "own writes of a report",
                queues: [1, 1],
                preemptions: 2,
                threads: [[.async(.lowest, 0, .set, .then(.async(.lowest, 1)))], [.async(.lowest, 0), .wait(.lowest)]]
            ),
            Scenario(
                "own writes, one of which is cancelled",
                queues: [1],
                preemptions: 2,
                threads: [
                    [.async(.lowest, 0), .async(.lowest, 0), .cancel(0), .wait(.lowest, .get)], [.wait(.lowest)],
                ]
            ),
            Scenario(
                "own writes on a queue that was late",
                queues: [1],
                jumps: [keeping],
                preemptions: 2,
                threads: [
                    [.async(.highest, 0), .cancel(0), .async(.lowest, 0), .wait(.lowest, .get)], [.wait(.lowest)],
                ]
            ),
            Scenario(
                "something urgent is submitted while a block drains",
                queues: [1, 1],
                batch: 3,
                preemptions: 2,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0)], [.async(.highest, 1)]]
            ),
            Scenario(
                "something urgent for the same queue, while that drains",
                queues: [1],
                batch: 3,
                preemptions: 4,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 0)], [.async(.highest, 0)]]
            ),
            Scenario(
                "cancelled while a block drains",
                queues: [1],
                batch: 3,
                preemptions: 3,
                threads: [
                    [.async(.lowest, 0, .set, .closure), .async(.lowest, 0), .async(.lowest, 0), .cancel(2)],
                    [.cancel(1), .wait(.lowest)],
                ]
            ),
        ]
    }

    /// Blocks that come late, or do something else for long.
    private static var late: [Scenario] {
        [
            Scenario(
                "a late block that finds the turn taken",
                queues: [1],
                jumps: [keeping],
                preemptions: 2,
                threads: [[.async(.lowest, 0), .wait(.lowest), .wait(.lowest)], [.wait(.highest)]]
            ),
            Scenario(
                "a late block that finds the turn kept by a manual command",
                queues: [1],
                jumps: [keeping],
                preemptions: 3,
                threads: [[.async(.lowest, 0)], [.wait(.lowest, .left)], [.complete(.calling)]]
            ),
            Scenario(
                "equals for two slow queues, and a wait",
                queues: [1, 1],
                jumps: [keeping],
                preemptions: 1,
                threads: [[.async(.lowest, 0), .async(.lowest, 0)], [.async(.lowest, 1)], [.wait(.lowest)]]
            ),
            Scenario(
                "equals for two slow queues, a wait, and a suspension",
                queues: [1, 1],
                jumps: [keeping],
                preemptions: 1,
                threads: [
                    [.async(.lowest, 0), .async(.lowest, 0), .suspend(0), .resume(0)], [.async(.lowest, 1)],
                    [.wait(.lowest)],
                ]
            ),
            Scenario(
                "three queues that stand still, and a wait",
                queues: [1, 1, 1],
                time: 2 * HandoffPolicy().keeping,
                preemptions: 3,
                threads: [
                    [
                        .suspendQueue(0), .suspendQueue(1), .suspendQueue(2), .async(.highest, 0), .async(.highest, 1),
                        .async(.highest, 2), .wait(.lowest), .resumeQueue(0), .resumeQueue(1), .resumeQueue(2),
                    ]
                ]
            ),
            Scenario(
                "two queues that stand still, and two waits",
                queues: [1, 1],
                preemptions: 3,
                threads: [
                    [.suspendQueue(0), .suspendQueue(1), .async(.highest, 0), .async(.highest, 1), .wait(.lowest)],
                    [.wait(.lowest)], [.join(0), .join(1), .resumeQueue(0), .resumeQueue(1)],
                ]
            ),
            Scenario(
                "a queue that is late, and two that only look",
                queues: [1],
                jumps: [keeping],
                preemptions: 2,
                threads: [[.async(.highest, 0), .async(.lowest, 0)], [.look(.lowest)], [.look(.highest)]]
            ),
            Scenario(
                "two queues that are late, a look, and a wait",
                queues: [1, 1],
                jumps: [keeping],
                preemptions: 1,
                threads: [[.async(.highest, 0), .async(.lowest, 1)], [.look(.lowest), .wait(.lowest)]]
            ),
            Scenario(
                "granted commands, and a look",
                queues: [1],
                jumps: [keeping],
                batch: 3,
                preemptions: 2,
                threads: [
                    [.async(.lowest, 0, .set, .closure), .async(.lowest, 0, .set, .closure), .async(.lowest, 0)],
                    [.look(.lowest)],
                ]
            ),
            Scenario(
                "a teller that waits for another command of its lane",
                queues: [2],
                threads: [[.async(.lowest, 0, .set, .then(.await(1))), .async(.lowest, 0)]]
            ),
            Scenario(
                "a teller that waits for another command, and a wait",
                queues: [2],
                preemptions: 2,
                threads: [[.async(.lowest, 0, .set, .then(.await(1))), .async(.highest, 0)], [.wait(.lowest)]]
            ),
            Scenario(
                "a teller that waits for the command of another queue",
                queues: [1, 1],
                preemptions: 3,
                threads: [[.async(.lowest, 0, .set, .then(.await(1))), .async(.lowest, 1), .async(.lowest, 0)]]
            ),
            Scenario(
                "a teller that waits for the turn, with more to do",
                queues: [1],
                preemptions: 4,
                threads: [
                    [.async(.lowest, 0, .set, .then(.wait(.lowest))), .async(.highest, 0), .async(.lowest, 0)]
                ]
            ),
            Scenario(
                "a teller that waits for the turn, on a concurrent queue",
                queues: [2],
                preemptions: 2,
                threads: [
                    [.async(.lowest, 0, .set, .then(.wait(.lowest))), .async(.lowest, 0)], [.wait(.highest)],
                ]
            ),
            Scenario(
                "a teller that waits for another value",
                queues: [2],
                preemptions: 2,
                threads: [
                    [.async(.lowest, 0, .set, .then(.wait(.lowest, on: 1))), .async(.lowest, 0)],
                    [.wait(.lowest, .then(.wait(.lowest)), on: 1)],
                ]
            ),
            Scenario(
                "two blocks of one lane",
                queues: [2],
                jumps: [keeping],
                preemptions: 2,
                threads: [
                    [.async(.lowest, 0, .set, .closure), .async(.lowest, 0, .set, .closure)], [.async(.lowest, 0)],
                ]
            ),
            Scenario(
                "a command that takes long, on a concurrent queue",
                queues: [2, 1],
                jumps: [keeping],
                preemptions: 2,
                threads: [[.async(.lowest, 0), .async(.lowest, 0), .async(.lowest, 1)]]
            ),
        ]
    }

    private static var mistakes: [Scenario] {
        [
            Scenario(
                "a circle of two",
                threads: [
                    [.wait(.lowest, .then(.wait(.lowest, on: 1)))], [.wait(.lowest, .then(.wait(.lowest)), on: 1)],
                ]
            ),
            Scenario(
                "a circle through a queue",
                queues: [1],
                threads: [
                    [.wait(.lowest, .then(.wait(.lowest, on: 1)))], [.async(.lowest, 0, .then(.wait(.lowest)), on: 1)],
                ]
            ),
            Scenario(
                "a circle of two that is looked for later",
                circleDelay: 1_000_000,
                threads: [
                    [.wait(.lowest, .then(.wait(.lowest, on: 1)))], [.wait(.lowest, .then(.wait(.lowest)), on: 1)],
                ]
            ),
            Scenario(
                "a circle with a time-out",
                threads: [
                    [.wait(.lowest, .then(.waitBriefly(.lowest, on: 1)))],
                    [.wait(.lowest, .then(.wait(.lowest)), on: 1)],
                ]
            ),
            Scenario(
                "three waits that look for circles later",
                circleDelay: 1_000_000,
                preemptions: 4,
                threads: [[.wait(.lowest)], [.wait(.highest)], [.wait(.lowest)]]
            ),
            Scenario("a wait inside itself", threads: [[.wait(.lowest, .then(.wait(.highest)))], [.wait(.highest)]]),
            Scenario(
                "a wait inside an async",
                queues: [1],
                threads: [[.async(.lowest, 0, .then(.wait(.highest)))], [.wait(.lowest)]]
            ),
        ]
    }
}
