//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// Where tasks are resumed by threads that may have a turn or a lock.
let awaitedTarget = DispatchQueue.global(qos: .userInitiated)

// To resume a task takes a lock of that in the runtime, under which another thread may run what is to be done when the
// task is cancelled or its priority changes, and wait for what the resuming thread has, or for what a task does that it
// is to resume next. And an executor may run the task in place.

extension [CheckedContinuation<Void, Never>] {
    /// Resumes tasks, but not on the calling thread, which may have turns and locks of its caller.
    @usableFromInline
    func resumeOnGlobalQueue() {
        if isEmpty { return }
        // Those who change a value dispatch one block, however many listen.
        awaitedTarget.async { resumeIndependently() }
    }

    /// Resumes tasks, none behind another: the last one on the calling thread.
    func resumeIndependently() {
        for continuation in dropLast() { awaitedTarget.async { continuation.resume() } }  // fault: resumed one by one
        last?.resume()
    }
}
