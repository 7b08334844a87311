//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// Where tasks are resumed by threads that may have a turn or a lock.
let awaitedTarget = DispatchQueue.global(qos: .userInitiated)

// Resuming a task takes a lock of the runtime. Another thread may hold this lock while it runs a handler for
// cancellation or priority. The handler may wait for a turn or lock of the resuming thread, or for a task that this
// thread resumes next. And an executor may run the task in place.

extension [CheckedContinuation<Void, Never>] {
    /// Resumes tasks, but not on the calling thread, which may have turns and locks of its caller.
    @usableFromInline func resumeOnGlobalQueue() {
        if isEmpty { return }
        // A thread that changes a value dispatches one block, however many listen.
        awaitedTarget.async { resumeIndependently() }
    }

    /// Resumes tasks, none behind another: the last one on the calling thread.
    func resumeIndependently() {
        for continuation in dropLast() { awaitedTarget.async { continuation.resume() } }  // fault: resumed one by one
        last?.resume()
    }
}
