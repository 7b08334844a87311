//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Called once to complete a manual command, on any thread; further calls do nothing.
public typealias CommandCompletionClosure = @Sendable () -> Void

/// The end of a manual command: the later of two events, that its closure has returned and that it was completed.
///
/// The user's `done` is the only one to keep this object, and needs no other. When the last copy of an uncalled `done`
/// goes away, so does this, and the command ends as dropped. Only the first ending counts, and the object lets go of
/// everything then.
///
/// The element is the word of its state. The header, with the command, which may be of a type that is not `Sendable`,
/// belongs to whoever changes the state to `returned` and then to whoever changes it from there: that one has the
/// turn.
@safe
@usableFromInline
final class ManualCompletion: ManagedBuffer<ManualCompletion.Finish?, AtomicWord.Storage> {
    /// Gives the turn back and tells who waits, given why the command failed, if it did.
    @usableFromInline
    typealias Finish = (QueueSafeValueError?) -> Void

    deinit {
        // No other thread has a reference, so none changes the state.
        if word.loadAcquiring() == State.returned { finish(.completionDropped) }
    }
}

extension ManualCompletion {
    private enum State {
        /// The closure runs, and the command is not complete.
        static var running: UInt64 { 0 }
        /// The closure has returned before the command is complete.
        static var returned: UInt64 { 1 }
        static var complete: UInt64 { 2 }
    }

    private var word: AtomicWord {
        unsafe withUnsafeMutablePointerToElements { unsafe AtomicWord($0) }
    }

    @usableFromInline
    static func make() -> ManualCompletion {
        let buffer = create(minimumCapacity: 1) { _ in nil }
        // `create` makes an object of the class that it is called on.
        let completion = unsafe unsafeDowncast(buffer, to: ManualCompletion.self)
        unsafe completion.word.storage.initialize(to: AtomicWord.zero)
        return completion
    }

    /// Whether the command is complete. Then it stays so, and what was done before is visible.
    @usableFromInline
    var isComplete: Bool { word.loadAcquiring() == State.complete }

    /// Completes the command; all but the first call do nothing.
    @usableFromInline
    func complete() {
        if word.exchange(State.running, for: State.complete) { return }
        if word.exchange(State.returned, for: State.complete) { finish(nil) }
    }

    /// The command's closure has returned: `finish` is called once, now or when the command is complete.
    func closureReturned(finish: @escaping Finish) {
        header = finish
        if word.exchange(State.running, for: State.returned) { return }
        // What was done before the command was completed is visible: an exchange that fails orders nothing.
        _ = word.loadAcquiring()
        self.finish(nil)
    }

    private func finish(_ failure: QueueSafeValueError?) {
        let finish = header
        header = nil
        finish?(failure)
    }
}
