//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// How a thread waits for a command that it has submitted.
@Suite("CommandHandle: wait")
struct WaitingForHandleTests {
    private let queue = DispatchQueue(label: "WaitingForHandleTests")

    @Test("A thread waits until the command is over, and gets its answer")
    func answer() throws {
        let answers = try inTime { [queue] in
            let value = QueueSafeValue(value: 1)
            let commands = value.async(performIn: queue).lowestPriority
            let blocker = Blocker(value)
            let (next, failing) = (commands.update { $0 + 1 }, commands.update { _ -> Int in throw Refusal(code: 2) })
            let last = commands.update {
                $0 += 9; return $0
            }
            let thread = RunningThread { blocker.end() }
            let answers = [next.wait(), failing.wait(timeout: .seconds(600))]
            #expect(last.wait() == .success(10))
            // At the next call the commands are over.
            #expect(answers == [next.wait(), failing.wait(timeout: .seconds(0))])
            thread.join()
            return answers
        }
        #expect(answers == [.success(2), .failure(.unexpected(error: Refusal(code: 2)))])
    }

    @Test("Threads and tasks wait for one command, and all go on")
    func many() async throws {
        let value = QueueSafeValue(value: 1)
        let blocker = Blocker(value)
        let handle = value.async(performIn: queue).lowestPriority.update { $0 + 1 }
        let threads = (0..<3).map { _ in
            RunningThread { #expect(handle.wait() == .success(2)) }
        }
        async let answer = handle.value
        blocker.end()
        for thread in threads { thread.join() }
        #expect(await answer == .success(2))
    }

    @Test("A wait that takes too long answers, and the command runs later")
    func timeOut() throws {
        try inTime { [queue] in
            let value = QueueSafeValue(value: 1)
            let blocker = Blocker(value)
            let handle = value.async(performIn: queue).lowestPriority.update { $0 + 1 }
            for timeout in [DispatchTimeInterval.seconds(-1), .nanoseconds(0), .milliseconds(1)] {
                #expect(handle.wait(timeout: timeout) == .failure(.timedOut))
            }
            #expect(handle.state == .waiting)
            blocker.end()
            #expect(handle.wait() == .success(2))
        }
    }

    @Test("A command that was cancelled or refused answers so, and ends the wait of a thread")
    func cancelled() throws {
        try inTime { [queue] in
            let value = QueueSafeValue(value: 1, pendingCommandLimit: 1)
            let blocker = Blocker(value)
            let commands = value.async(performIn: queue).lowestPriority
            let (first, second) = (commands.update { $0 + 1 }, commands.update { $0 + 1 })
            #expect(second.wait() == .failure(.commandQueueFull))
            let thread = RunningThread { #expect(first.wait() == .failure(.cancelled)) }
            #expect(first.cancel())
            thread.join()
            #expect(first.wait() == .failure(.cancelled))
            blocker.end()
        }
    }

    @Test("A wait inside a command of the same value answers, and the command runs later")
    func reentrant() throws {
        try inTime { [queue] in
            let value = QueueSafeValue(value: 1)
            let handle = Log<CommandHandle<Int>>()
            value.wait.lowestPriority.set { _ in
                handle.add(value.async(performIn: queue).highestPriority.update { $0 + 1 })
                #expect(handle.entries[0].wait() == .failure(.reentrantCommand))
            }
            #expect(handle.entries[0].wait() == .success(2))
        }
    }

    @Test("A command that waits for itself gets an answer")
    func itself() throws {
        try inTime { [queue] in
            let value = QueueSafeValue(value: 1)
            let (handle, isSubmitted) = (Log<CommandHandle<Bool>>(), Door())
            handle.add(
                value.async(performIn: queue).lowestPriority.update { _ in
                    isSubmitted.waitUntilOpen()
                    return handle.entries[0].wait() == .failure(.reentrantCommand)
                }
            )
            isSubmitted.open()
            #expect(handle.entries[0].wait() == .success(true))
        }
    }

    @Test("A completion waits for a later command on a queue of many threads")
    func inCompletion() throws {
        try inTime {
            let value = QueueSafeValue(value: 0)
            let commands = value.async(performIn: DispatchQueue(label: "", attributes: .concurrent)).lowestPriority
            let (later, answers) = (Log<CommandHandle<Int>>(), Log<Result<Int, QueueSafeValueError>>())
            let told = Door()
            let blocker = Blocker(value)
            commands.set {
                $0 += 1
            } completion: { _ in
                answers.add(later.entries[0].wait())
                told.open()
            }
            later.add(commands.update { $0 + 1 })
            blocker.end()
            told.waitUntilOpen()
            #expect(answers.entries == [.success(2)])
        }
    }

    /// The handler runs while the runtime keeps its task from going on.
    @Test("A task goes on although the handler of another one, which waits for the same command, waits for it")
    func twoTasks() throws {
        try inTime { [queue] in
            let value = QueueSafeValue(value: 1)
            value.suspend()
            let handle = value.async(performIn: queue).lowestPriority.update { $0 + 1 }
            let (first, second, isHandled, isOver) = (Door(), Door(), Door(), Door())
            let task = OwnThreads.run {
                await withTaskCancellationHandler {
                    #expect(await handle.value == .success(2))
                } onCancel: {
                    isHandled.open()
                    second.waitUntilOpen()
                }
                first.open()
            }
            // It waits before the other one, or is about to.
            Thread.sleep(forTimeInterval: 0.005)
            OwnThreads.run {
                #expect(await handle.value == .success(2))
                second.open()
            }
            let canceller = RunningThread {
                task.cancel()
                isOver.open()
            }
            isHandled.waitUntilOpen()
            value.resume()
            for door in [first, second, isOver] { door.waitUntilOpen() }
            canceller.join()
        }
    }

    @Test("On the main thread, a wait for a command on the main queue answers, and the command runs later")
    @MainActor
    func onMainThread() async {
        Mistakes.keepQuiet()
        let value = QueueSafeValue(value: 1)
        let handle = value.async(performIn: .main).lowestPriority.update { $0 + 1 }
        #expect(waitHere(for: handle) == .failure(.circularWait))
        #expect(await handle.value == .success(2))
    }

    /// A queue that was late has a mark of its own, which must not hide that its target is the main queue.
    @Test("So does one in a block of a queue whose target is the main queue")
    func targetIsMain() async throws {
        Mistakes.keepQuiet()
        let value = QueueSafeValue(value: 1)
        let queue = DispatchQueue(label: "on main", target: .main)
        let answers: [Result<Int, QueueSafeValueError>] = await withCheckedContinuation { continuation in
            let answers = Log<Result<Int, QueueSafeValueError>>()
            let ask = { @Sendable in
                answers.add(value.async(performIn: .main).lowestPriority.update { $0 + 1 }.wait())
            }
            queue.async {
                ask()
                // The queue is late, as this thread waits on it.
                value.async(performIn: queue).lowestPriority.set { $0 += 1 }
                value.wait.lowestPriority.get { _ in }
            }
            queue.async {
                ask()
                continuation.resume(returning: answers.entries)
            }
        }
        #expect(answers == [.failure(.circularWait), .failure(.circularWait)])
    }

    @Test func `A thread waits for the end of a command, as long as it likes`() {
        let value = QueueSafeValue(value: 1)
        value.suspend()
        let handle = value.async(performIn: queue).lowestPriority.update { $0 * 2 }
        #expect(handle.wait(timeout: .seconds(0)) == .failure(.timedOut))
        #expect(handle.wait(timeout: .milliseconds(1)) == .failure(.timedOut))
        value.resume()
        #expect(handle.wait() == .success(2))
        // The command is over.
        #expect(handle.wait(timeout: .seconds(0)) == .success(2))
    }

    @Test func `A thread is told that a command was cancelled while it waits`() {
        let value = QueueSafeValue(value: 1)
        value.suspend()
        let handle = value.async(performIn: queue).lowestPriority.update { $0 * 2 }
        DispatchQueue.global().async { handle.cancel() }
        #expect(handle.wait() == .failure(.cancelled))
        value.resume()
    }

    @Test func `A command does not wait for one that waits for it`() {
        let value = QueueSafeValue(value: 1)
        let answer = value.wait.lowestPriority.map { _ in
            value.async(performIn: queue).lowestPriority.update { $0 * 2 }.wait()
        }
        #expect(answer == .success(.failure(.reentrantCommand)))
    }

    private func waitHere(for handle: CommandHandle<Int>) -> Result<Int, QueueSafeValueError> {
        handle.wait(timeout: .seconds(600))
    }
}
