//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Who submits commands, each in one of 64 bits.
enum Submitter {
    /// The bit of the calling thread, and in a task those of the task.
    static var currentBits: UInt64 { bit(currentThreadIdentity() >> 4 &* 0x9E37_79B9_7F4A_7C15) | taskBits }

    /// The bit of the current task, and of the tasks that await it while it runs a body for them; zero outside of
    /// tasks.
    static var taskBits: UInt64 {
        unsafe withUnsafeCurrentTask { task in
            // Faster than to bind it, as mostly there is none.
            unsafe task.map {
                unsafe bit(UInt64(truncatingIfNeeded: $0.hashValue)) | (TaskBody.current?.submitters ?? 0)
            } ?? 0
        }
    }

    private static func bit(_ hash: UInt64) -> UInt64 { 1 << (hash >> 58) }
}
