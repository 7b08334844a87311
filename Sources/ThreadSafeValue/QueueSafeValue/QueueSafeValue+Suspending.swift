//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension QueueSafeValue {
    /// Lets commands wait until `resume()`; the one that runs completes.
    ///
    /// Commands are accepted as before. Each call needs a ``resume()``; if the container goes away before, the commands
    /// that it accepted run all the same. A waiting command of the thread that is to resume would wait for ever.
    public func suspend() {
        queue.suspend()
    }

    /// Takes back one `suspend()`; after the last, the commands that wait go on.
    ///
    /// - Returns: success, or ``QueueSafeValueError/notSuspended`` if there is nothing to take back.
    @discardableResult
    public func resume() -> Result<Void, QueueSafeValueError> {
        queue.resume() ? .success(()) : .failure(.notSuspended)
    }
}
