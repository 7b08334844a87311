//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer {
    /// Lets all commands wait until `resume()`, except the one that runs.
    ///
    /// The value still accepts commands. Once this method has returned, a command whose handle says `waiting` does not begin.
    /// Each call needs a ``resume()``. If no handle of the value is left that could resume it, the pending commands answer
    /// ``QueueSafeValueError/valueContainerDeinited``. Don't call `wait` on the thread that is to resume the value: it
    /// would wait for ever.
    public func suspend() {
        unsafe schedulingPoint("suspend of", queue.storage, queue.word.storage, waits: false)
        queue.withTurns { turns in
            turns.update { $0.suspensions += 1 }
            // A block may have claimed a command before: the handle of that does not say `waiting` from here on.
            _ = turns.word.loadAcquiring()  // fault: order: see a claim
        }
    }

    /// Takes back one `suspend()`. When none is left, the waiting commands go on.
    ///
    /// - Returns: Success, or ``QueueSafeValueError/notSuspended`` if the value was not suspended.
    @discardableResult public func resume() -> Result<Void, QueueSafeValueError> {
        unsafe schedulingPoint("resume of", queue.storage, queue.word.storage, waits: false)
        if queue.withTurns({ turns in turns.update { $0.resume() } }) { return .success(()) }
        return .failure(.notSuspended.reported(for: Value.self, "resume()"))
    }
}
