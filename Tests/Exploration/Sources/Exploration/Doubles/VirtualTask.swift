//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Doubles of what the library uses of Swift's tasks. A virtual thread may be a task: it has a stack of its own, and
// waits where a task is suspended.

final class VirtualTask {
    private let thread: VirtualThread
    private var isCancelled = false
    private var onCancel: (() -> Void)?
    private var isRunningHandler = false
    private let id = world.newObject()

    init(_ thread: VirtualThread) {
        self.thread = thread
    }

    /// A number of the form that the address of a real task has.
    var identity: UInt64 { 1 << 33 | UInt64(thread.index) << 4 }

    var cancelled: Bool {
        world.pass(.run("look whether the task is cancelled", 0))
        world.current.observe(isCancelled ? 1 : 0)
        return isCancelled
    }

    func cancel() {
        world.pass(.run("cancel the task", identity))
        guard !isCancelled else { return }
        let handler = change {
            isCancelled = true
            isRunningHandler = onCancel != nil
            return onCancel
        }
        guard let handler else { return }
        handler()
        change { isRunningHandler = false }
    }

    func withHandler<Answer>(_ handler: @escaping () -> Void, _ body: () -> Answer) -> Answer {
        world.pass(.run("add a handler", 0))
        let wasCancelled = change {
            onCancel = handler
            return isCancelled
        }
        world.current.observe(wasCancelled ? 1 : 0)
        if wasCancelled { handler() }
        let answer = body()
        // The runtime waits for a handler that runs.
        world.pass(.until("remove a handler") { !self.isRunningHandler })
        change { onCancel = nil }
        return answer
    }

    private func change<Answer>(_ body: () -> Answer) -> Answer {
        func contents() -> UInt64 { (isCancelled ? 1 : 0) | (onCancel == nil ? 0 : 2) | (isRunningHandler ? 4 : 0) }
        let before = contents()
        world.memory.acquire(id)
        let answer = body()
        world.memory.release(id)
        world.objectChanged(id, from: before, to: contents())
        return answer
    }
}

enum Task {
    /// Later threads are more urgent.
    static var currentPriority: TaskPriority { TaskPriority(rawValue: UInt8(world.current.index)) }

    static var isCancelled: Bool { world.current.task?.cancelled ?? false }
}

struct UnsafeCurrentTask {
    let identity: UInt

    /// A task must not end while its priority is lifted: it is in a command then.
    func escalatePriority(to priority: TaskPriority) {
        world.pass(.run("lift the priority of", UInt64(identity)))
        if !world.threads.contains(where: { $0.task?.identity == UInt64(identity) && !$0.commands.isEmpty }) {
            world.fail("the priority of a task is lifted that may have ended")
        }
    }
}

func withVirtualTask<Answer>(body: (UnsafeCurrentTask?) -> Answer) -> Answer {
    body(world.current.task.map { UnsafeCurrentTask(identity: UInt($0.identity)) })
}

func withTaskCancellationHandler<Answer>(_ body: () -> Answer, onCancel: () -> Void) -> Answer {
    withoutActuallyEscaping(onCancel) { world.current.task!.withHandler($0, body) }
}

final class UnsafeContinuation<Success, Failure: Error>: @unchecked Sendable {
    private var isResumed = false
    private let id = world.newObject()

    func resume() {
        if isResumed { world.fail("a task is resumed twice") }
        world.objectChanged(id, from: 0, to: 1)
        world.memory.release(id)
        isResumed = true
    }

    func wait() {
        world.current.rememberOnlyCommands()
        world.current.observe(id)
        world.pass(.until("be resumed") { self.isResumed })
        world.memory.acquire(id)
    }
}

func withUnsafeContinuation(_ body: (UnsafeContinuation<Void, Never>) -> Void) {
    let continuation = UnsafeContinuation<Void, Never>()
    body(continuation)
    continuation.wait()
}
