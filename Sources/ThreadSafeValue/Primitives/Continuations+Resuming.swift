//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

/// Where tasks are resumed by threads that may have a turn or a lock, and where commands of tasks run that had to wait.
let awaitedTarget = DispatchQueue.global(qos: .userInitiated)

extension [CheckedContinuation<Void, Never>] {
    /// Resumes tasks, but not on the calling thread, which may have turns and locks of its caller.
    ///
    /// To resume a task takes a lock of that in the runtime, under which another thread may run what is to be done when
    /// the task is cancelled or its priority changes, and wait for what the calling thread has. And an executor may run
    /// the task in place.
    @usableFromInline
    func resumeOnGlobalQueue() {
        if isEmpty { return }
        awaitedTarget.async { for continuation in self { continuation.resume() } }
    }
}
