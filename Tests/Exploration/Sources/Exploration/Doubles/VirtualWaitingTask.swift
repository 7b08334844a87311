//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of a task that waits: what it does when it goes on is a block of a target queue, which is its executor.
final class WaitingTask: @unchecked Sendable {
    enum Step: Sendable {
        case look
        case begin
        case end(QueueSafeValueError)
    }

    let identity: UInt
    private let executor: DispatchQueue?
    private let id = world.newObject()
    private var isSuspended = false
    private var failure: QueueSafeValueError?

    /// What the task does when it goes on; `nil` when it waits no more.
    var goesOn: ((Step) -> Void)?

    /// What the library makes; no scenario does.
    init() {
        (identity, executor) = (0, nil)
        world.fail("no scenario has real tasks")
    }

    init(_ identity: UInt, on executor: DispatchQueue) {
        (self.identity, self.executor) = (identity, executor)
    }
}

extension WaitingTask {
    func suspend(_ continuation: UnsafeContinuation<Step, Never>) {
        world.fail("no scenario has real tasks")
    }

    /// The task is about to be suspended, or goes on at once if it has left the line.
    func suspend() {
        world.pass(.run("suspend a task", id))
        change { isSuspended = true }
        if let failure { end(at: failure) }
    }

    func goOn() {
        world.pass(.run("let a task go on", id))
        let tag = world.current.owes(identity)
        executor!.append(mix(tag, UInt64(identity))) {
            guard self.isSuspended else { return }
            self.change { self.isSuspended = false }
            self.goesOn?(.look)
        }
    }

    func begin() {
        change { isSuspended = false }
    }

    func end(_ failure: QueueSafeValueError) {
        world.pass(.run("end a task", id))
        change { self.failure = failure }
        end(at: failure)
    }

    private func end(at failure: QueueSafeValueError) {
        guard isSuspended else { return }
        change { isSuspended = false }
        executor!.append(mix(1, UInt64(identity))) { self.goesOn?(.end(failure)) }
    }

    private func change(_ body: () -> Void) {
        let before = contents
        body()
        world.objectChanged(id, from: before, to: contents)
    }

    private var contents: UInt64 { (isSuspended ? 1 : 0) | (failure == nil ? 0 : 2) }
}
