//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The type of `done`: the first call, on any thread, completes a manual command; further calls do nothing.
public typealias CommandCompletionClosure = @Sendable () -> Void

/// The end of a manual command: the later of two events, that its closure has returned and that it was completed.
///
/// The user's `done` is the only one to keep this object, and needs no other. When the last copy of an uncalled `done`
/// goes away, so does this, and the command ends as dropped. Only the first ending counts, and the object lets go of
/// everything then.
///
/// `@unchecked Sendable`: `finish`, with the command, which may be of a type that is not `Sendable`, belongs to
/// whatever changes the state to `returned` and then to whatever changes it from there: that has the turn.
@usableFromInline final class ManualCompletion: @unchecked Sendable {
    // First, so that its address is known.
    private var state = AtomicWord.zero

    /// Gives the turn back and tells what waits, given why the command failed, if it did.
    private var finish: ((QueueSafeValueError?) -> Void)?

    deinit {
        // No other thread has a reference, so none changes the state. The count of references orders enough, but the
        // thread sanitizer does not see that: this look shows it the order.
        // fault: a dropped done is not told
        if word.loadAcquiring() == State.returned { finish.take()?(.completionDropped) }
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

    private var word: AtomicWord { AtomicWord(firstIn: self) }

    /// Whether the command is complete. Then it stays so, and what was done before is visible.
    @usableFromInline var isComplete: Bool { word.loadAcquiring() == State.complete }  // fault: order: look at done

    /// The command is over, and no `done` is left.
    func reset() { word.store(State.running) }

    /// Completes the command; all but the first call do nothing.
    @usableFromInline func complete() {
        unsafe schedulingPoint("done of", self, word.storage, waits: false)
        if word.exchangeReleasing(State.running, for: State.complete) { return }
        if word.exchangeAcquiring(State.returned, for: State.complete) { finish.take()?(nil) }
    }

    /// The command's closure has returned: `finish` is called once, now or when the command is complete.
    @usableFromInline func closureReturned(_ finish: @escaping (QueueSafeValueError?) -> Void) {
        self.finish = finish
        // The second look makes visible what was done before: an exchange that fails orders nothing.
        if !word.exchangeReleasing(State.running, for: State.returned), isComplete { self.finish.take()?(nil) }
    }
}
