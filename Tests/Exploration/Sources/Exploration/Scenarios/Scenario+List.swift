//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Scenario {
    /// The scenarios that are explored exhaustively. See `Scenario+Text` for the language.
    static let all = lines.map { Scenario($0) }

    private static let lines = list.split(separator: "\n", omittingEmptySubsequences: true)
        .filter { !$0.hasPrefix("#") }
        .reduce(into: [String]()) { lines, line in
            if line.hasPrefix(" ") { lines[lines.count - 1] += line } else { lines.append(String(line)) }
        }

    private static let list = """
        # Rules 1 to 4: to take a turn, to wait for it, to release it, to be owed it.
        two waits: wait | wait
        three waits: wait | wait | wait
        waits of three priorities [preemptions 4]: wait | wait medium | wait highest
        waits that come again: wait; wait | wait; wait
        waits that look twice [looks 2]: wait | wait
        an equal barges, and the front is owed the turn [jumps fair, preemptions 3]: wait; wait | wait | wait
        two tasks: task | task
        a task and a wait: task | wait; wait
        tasks of two priorities and a wait [preemptions 4]: task | task high | wait high
        an async closure and a task: closure | task highest
        a command and a wait [queues 1]: async 0 | wait
        a command and a task [queues 1]: async 0 | task
        a command, and a wait that is more urgent [queues 1]: async 0 | wait highest
        a command that is more urgent, and a wait [queues 1]: async 0 high | wait
        own writes are seen [queues 1]: async 0; wait
        own writes are seen beside others [queues 1, preemptions 3]: async 0 medium; wait | wait
        own writes are seen behind a thread [queues 1, preemptions 2]: async 0; wait | wait | wait
        own writes are seen by a task [queues 1]: async 0; task
        two threads submit [queues 1]: async 0 | async 0
        two queues [queues 1 1, preemptions 3]: async 0 | async 1
        # Order: the most urgent first, then the first that came.
        one queue, three priorities [queues 1]: async 0; async 0 highest; async 0 medium
        two queues and a wait between them [queues 1 1, preemptions 3]: async 0; async 1 highest | wait medium
        a wait between commands of one queue [queues 1, preemptions 4]: async 0; async 0 | wait
        two values at once, and each alone: both | wait; wait on 1
        # Rule 5: what is late loses its place until it comes.
        a queue is late [queues 1, haste 2, preemptions 3]: async 0; wait
        a queue stands still [queues 1]: stop 0; async 0; wait; start 0
        a queue stands still and was handed the turn [queues 1]: wait doing { async 0 }; stop 0; wait highest; start 0
        two queues stand still, and one comes back [queues 1 1, preemptions 3]:
          stop 0; stop 1; async 0; async 1; wait; start 0; wait; start 1
        a change puts a wait behind a queue that stands still [queues 1, preemptions 3]:
          wait when 1; start 0 | stop 0; async 0; wait highest
        a late queue comes back behind one that stands still [queues 1 1, preemptions 3]:
          stop 0; stop 1; async 0 tells { start 1 }; wait; async 1 highest; start 0
        a late queue comes back beside a batch [queues 1 1, haste 1, batch 3, looks 2, preemptions 2]:
          async 0; async 1; async 1; wait
        a late queue gets more commands [queues 1, haste 1, preemptions 3]: async 0; async 0 high; wait; async 0
        a task is late [haste 2, preemptions 3]: task | wait; wait medium | wait highest
        a queue and a task are late [queues 1, haste 2, preemptions 2]: task | async 0; wait
        a wait in the report of a command [queues 1, preemptions 2]: async 0 tells { wait }; async 0
        a wait below a block that was handed the turn [queues 1, preemptions 3]:
          async 0 tells { wait }; async 0 high | wait
        the main thread waits [queues 0, main 0]: async 0; wait
        the main thread waits, and others submit to its queue [queues 0, main 0]: wait | async 0; wait
        # Rule 6: batches, and blocks that are replaced.
        a batch of three [queues 1]: async 0; async 0; async 0
        a batch of three, and a wait behind it [queues 1, preemptions 3]: async 0; async 0; async 0; wait
        a batch and something that is more urgent [queues 1, batch 3, preemptions 3]:
          async 0; async 0; async 0 | wait highest
        a batch that tells [queues 1, batch 3]: async 0 tells; async 0 tells
        a batch that tells, and a wait [queues 1, batch 3, preemptions 4]: async 0 tells; async 0 tells | wait
        a block tells one caller for long [queues 2, haste 3]: async 0 tells { await 1 }; async 0
        a block tells one caller for long, who comes back while others run [queues 2, haste 2, batch 3, preemptions 2]:
          async 0 tells; async 0 tells; async 0; wait
        a report waits whose block was replaced [queues 2, haste 3, preemptions 1]:
          async 0 tells { wait }; async 0 | wait
        a command submits another [queues 1]: async 0 doing { async 0 }
        a report submits another [queues 1]: async 0 tells { async 0 }
        # Rule 7.
        a suspension and waits: suspend; resume; wait | wait
        two suspensions: suspend; suspend; resume; resume | wait
        a suspension and a command [queues 1]: async 0; suspend; resume
        a suspension and a batch [queues 1]: async 0; async 0 | suspend; resume
        a suspension of a block that was handed the turn [queues 1, preemptions 3]:
          async 0; suspend; resume | wait highest
        a suspension and a task: suspend; resume | task | task high
        a suspension and a late queue [queues 1, haste 2, preemptions 2]: async 0; suspend; resume | wait
        # cancellations
        a command is cancelled [queues 1]: async 0 tells; cancel 0
        a command is cancelled beside a wait [queues 1]: async 0; cancel 0 | wait
        one of two commands is cancelled [queues 1]: async 0 tells; async 0 | cancel 0
        one of a batch is cancelled beside a wait [queues 1, preemptions 3]:
          async 0; async 0; wait | cancel 1; wait highest
        a command is cancelled by two [queues 1]: async 0; cancel 0 | cancel 0
        all are cancelled [queues 1, preemptions 2]: async 0; async 0 high | cancelAll | wait
        waiting threads are cancelled: wait | wait | cancelAll
        waiting tasks are cancelled: task | task | cancelAll
        a task is cancelled: task | wait; cancelTask 0
        a task is cancelled by two ways: task | wait; cancelTask 0 | cancelAll
        a task is cancelled while the value is suspended: task | suspend; cancelTask 0; resume
        a handle answers [queues 1]: async 0; cancel 0 | beTask; handle 0
        # changed priorities
        a command changes its priority while its lane waits [queues 1 1, preemptions 2]:
          async 0; async 0; change 1 high | async 1 medium; wait
        a command is lowered to its equals while its lane waits [queues 1 1, preemptions 2]:
          async 0 high; async 1; change 0 lowest | async 1 medium
        a command changes its priority beside a batch, and a more urgent one comes [queues 1, batch 4, preemptions 1]:
          async 0; async 0; async 0 | change 2 medium; async 0 high
        a command changes its priority while its block tells [queues 1, batch 3, preemptions 3]:
          async 0 tells; async 0 | change 1 highest; wait medium
        a command changes its priority while a block has a batch [queues 1 1, batch 3, preemptions 1]:
          async 0; async 0; async 0 | change 2 high | async 1 medium
        a command of a batch is raised past equals [queues 1 1, batch 3, preemptions 2]:
          async 0 medium; async 0 medium; async 0 | change 2 medium; async 1 medium
        a command is raised between those of a batch [queues 1, batch 3, preemptions 2]:
          async 0 medium; async 0; async 0 medium | change 1 medium
        # timeouts
        a wait with a time-out: wait briefly | wait
        a wait that only looks [queues 1]: async 0; wait looking | wait looking
        waits with time-outs [preemptions 3]: wait briefly | wait high briefly | wait
        a task with a time-out: task briefly | wait
        a task with a time-out is cancelled: task briefly | wait; cancelTask 0
        a wait with a time-out beside a command [queues 1]: async 0; wait briefly
        # manuals
        a manual wait: wait doneTwice | wait
        a manual wait that drops its done: wait dropped | wait
        a manual wait that is completed elsewhere: wait left | complete | wait
        a manual wait whose done is dropped elsewhere: wait left | drop
        a manual command [queues 1]: async 0 done tells; wait
        a manual command that drops its done [queues 1]: async 0 dropped tells; async 0
        a manual command that is completed elsewhere [queues 1]: async 0 left tells; async 0 | completeTwice
        a manual command whose done is dropped elsewhere [queues 1, preemptions 3]: async 0 left tells; wait | drop
        two manual commands and a wait [queues 1, preemptions 2]: async 0 left; async 0 left | complete; complete | wait
        a suspension and a manual command [queues 1]: async 0 left; suspend; resume | complete
        # lives
        a value is let go [queues 1]: async 0; release
        a value is let go while threads use it: wait; release | wait
        a value is let go while tasks use it: task; release | task
        a suspended value is let go [queues 1]: async 0 tells; suspend; release
        a suspended value with commands of two queues is let go [queues 1 1, preemptions 3]:
          async 0; async 1 high tells | suspend; release
        a value is let go with a manual command [queues 1]: async 0 left tells; release | complete
        a value is let go while a command is cancelled [queues 1]: async 0 tells; suspend; release | cancel 0
        a value is let go with a late queue [queues 1, haste 2, preemptions 2]:
          async 0; async 0 high; release | wait medium
        # mistakes
        a wait in a wait of the same value: wait doing { wait highest } | wait
        a wait in a command of the same value [queues 1]: async 0 doing { wait }
        a wait in an async closure of the same value: closure doing { wait }
        a handle is awaited in the closure that keeps it waiting [queues 1]: closure doing { handle 1 } | async 0
        two threads in a circle [haste 2]: wait doing { wait on 1 } | wait on 1 doing { wait }
        three threads in a circle [preemptions 3]:
          wait doing { wait on 1 } | wait on 1 doing { wait on 2 } | wait on 2 doing { wait }
        a circle that a time-out ends: wait doing { wait on 1 briefly } | wait on 1 doing { wait }
        two tasks in a circle: closure doing { task on 1 } | closure on 1 doing { task }
        a task and a thread in a circle: closure doing { task on 1 } | wait on 1 doing { wait }
        a wait in a task, and an async closure: beTask; wait | closure
        two waits in tasks, and an async closure [preemptions 2]: beTask; wait | beTask; wait high | closure | wait
        # conditions
        a wait for a condition: wait when 1 | wait
        a wait for a condition that a command meets [queues 1]: wait when 1 | async 0
        a task for a condition: task when 1 | wait
        two waits for conditions [preemptions 3]: wait when 1 | wait highest when 2 | wait
        a wait for a condition and a suspension: wait when 1 | suspend; resume; wait
        a wait for a condition with a time-out: wait when 1 briefly | wait
        a wait for a condition that a manual command meets [queues 1, preemptions 3]:
          wait when 1 | async 0 left | complete
        a wait for a condition that a batch meets [queues 1, batch 3, preemptions 3]:
          wait highest when 1 | suspend; async 0; async 0; resume
        # listeners
        a listener hears of waits [listened]: wait | wait get
        a listener hears of commands [queues 1, listened]: async 0; async 0 tells
        a listener comes beside a condition [preemptions 3]: wait when 1 | wait | listen
        a listener comes and goes: wait; wait | listen; unlisten
        # The order of memory, and the lock.
        two threads lock [stale 2]: lock | lock
        two threads lock twice [stale 1]: lock; lock | lock; lock
        three threads lock [stale 1]: lock | lock | lock
        a thread locks and is owed the lock [stale 1, jumps fair]: lock; lock | lock
        a thread locks in time [stale 1]: lockInTime | lock; lock
        two threads lock in time, and one does without [stale 1, preemptions 3]: lockInTime | lockInTime | lock
        two threads look again for the lock [stale 1, looks 2]: lock | lock
        three threads lock, and two come again [stale 1, preemptions 3]: lock; lock | lock; lock | lock
        two waits, and the order of memory [stale 2, unseen]: wait | wait
        a wait is owed the turn, and the order of memory [stale 1, jumps fair, preemptions 2]: wait; wait | wait | wait
        a manual wait is completed elsewhere, and the order of memory [stale 1]: wait left | complete | wait
        a manual command is completed elsewhere, and the order of memory [stale 1, queues 1, preemptions 3]:
          async 0 left tells | complete | wait
        a batch and a wait, and the order of memory [stale 1, queues 1, batch 3, preemptions 3]:
          async 0 tells; async 0 tells | wait
        a batch and a more urgent wait, and the order of memory [stale 1, queues 1, batch 3, preemptions 2]:
          async 0 tells; async 0 tells | wait high
        a command and a wait, and the order of memory [stale 1, queues 1]: async 0 tells | wait
        a task and a wait, and the order of memory [stale 1]: task | wait
        a command and a suspension, and the order of memory [stale 1, queues 1, preemptions 3]: async 0; suspend; resume
        an async closure is lifted, and the order of memory [stale 1]: closure | task | cancelTask 1
        a command is cancelled, and the order of memory [stale 1, queues 1]: async 0 tells | cancel 0
        a handle answers, and the order of memory [stale 1, queues 1, preemptions 3]: async 0 | beTask; handle 0
        # A bound for what waits.
        a place for one command [queues 1, limit 1]: async 0 | async 0 tells
        a place for one task [limit 1, preemptions 3]: task | task | task
        """
}
