//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeContainer {
    /// Lets commands wait until `resume()`; the one that runs completes.
    ///
    /// Commands are accepted as before. After this has returned, none begins whose handle says that it waits. Each
    /// call needs a ``resume()``: when nobody holds the value any more who could call it, its pending commands answer
    /// ``QueueSafeValueError/valueContainerDeinited``. A `wait` on the thread that is to resume would wait for ever.
    public func suspend() {
        queue.withTurns { $0.suspend() }
    }

    /// Takes back one `suspend()`; after the last, the commands that wait go on.
    ///
    /// - Returns: Success, or ``QueueSafeValueError/notSuspended`` if there is nothing to take back.
    @discardableResult
    public func resume() -> Result<Void, QueueSafeValueError> {
        if queue.withTurns({ $0.resume() }) { return .success(()) }
        return .failure(.notSuspended.reported(for: Value.self, "resume()"))
    }
}
