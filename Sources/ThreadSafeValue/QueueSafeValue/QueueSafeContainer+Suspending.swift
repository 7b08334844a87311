//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer {
    /// Lets commands wait until `resume()`; the one that runs completes.
    ///
    /// Commands are accepted as before. After this returns, no command begins whose handle says `waiting`. Each call
    /// needs a ``resume()``. If no handle of the value is left to call it, the pending commands answer
    /// ``QueueSafeValueError/valueContainerDeinited``. A `wait` on the thread that is to resume would wait for ever.
    public func suspend() {
        unsafe schedulingPoint("suspend of", queue.storage, queue.word.storage, waits: false)
        queue.withTurns { turns in turns.update { $0.suspensions += 1 } }
    }

    /// Takes back one `suspend()`; after the last, the commands that wait go on.
    ///
    /// - Returns: Success, or ``QueueSafeValueError/notSuspended`` if there is nothing to take back.
    @discardableResult
    public func resume() -> Result<Void, QueueSafeValueError> {
        unsafe schedulingPoint("resume of", queue.storage, queue.word.storage, waits: false)
        if queue.withTurns({ $0.resume() }) { return .success(()) }
        return .failure(.notSuspended.reported(for: Value.self, "resume()"))
    }
}
