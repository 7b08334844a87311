//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of a task that waits: what it does when it goes on is a block of a target queue, which is its executor.
final class WaitingTask: @unchecked Sendable {
    enum Step: Sendable {
        case look(block: UInt64)
        case end(QueueSafeValueError)
    }

    let identity: UInt
    private let executor: DispatchQueue?
    private let id = world.newObject()
    private var isSuspended = false
    private var step: Step?

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

    /// The task is about to be suspended, or goes on at once if it is to.
    func suspend() {
        world.pass(.run("suspend a task", id))
        let step = step
        change {
            isSuspended = true
            self.step = nil
        }
        if let step { resume(with: step) }
    }

    func goOn(block: UInt64) {
        world.pass(.run("let a task go on", id))
        let tag = world.current.owes(identity)
        executor!.append(mix(tag, UInt64(identity))) { self.resume(with: .look(block: block), inPlace: true) }
    }

    func end(_ failure: QueueSafeValueError) {
        world.pass(.run("end a task", id))
        resume(with: .end(failure))
    }

    /// - Parameters:
    ///   - step: What it is to do.
    ///   - inPlace: Whether this is its executor.
    private func resume(with step: Step, inPlace: Bool = false) {
        if !isSuspended {
            if case .end = self.step { return }
            return change { self.step = step }
        }
        change { isSuspended = false }
        if inPlace { goesOn?(step) } else { executor!.append(mix(1, UInt64(identity))) { self.goesOn?(step) } }
    }

    private func change(_ body: () -> Void) {
        let before = contents
        body()
        world.objectChanged(id, from: before, to: contents)
    }

    private var contents: UInt64 {
        let steps: UInt64 =
            switch step {
            case nil: 0
            case .look: 2
            case .end: 4
            }
        return steps | (isSuspended ? 1 : 0)
    }
}
