//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Who submits commands, each as two of 64 bits, one in each half: one pair in a thousand counts as one.
enum Submitter {
    /// The bits of the calling thread, and in a task those of the task.
    static var currentBits: UInt64 { bits(currentThreadIdentity() >> 4 &* 0x9E37_79B9_7F4A_7C15) | taskBits }

    /// Whether anybody may be in both.
    static func mayShare(_ bits: UInt64, _ others: UInt64) -> Bool {
        let shared = bits & others
        return shared >> 32 != 0 && UInt32(truncatingIfNeeded: shared) != 0
    }

    /// The bits of the current task, and of the tasks that await it while it runs a body for them; outside of tasks those
    /// of the task that awaits what the thread runs.
    static var taskBits: UInt64 {
        unsafe withUnsafeCurrentTask { task in
            // Faster than to bind it, as mostly there is none.
            unsafe task.map {
                unsafe bits(UInt64(truncatingIfNeeded: $0.hashValue)) | (TaskBody.current?.submitters ?? 0)
            } ?? AwaitedClosure.current?.submitters ?? 0
        }
    }

    private static func bits(_ hash: UInt64) -> UInt64 { 1 << (32 + (hash >> 59)) | 1 << (hash >> 54 & 31) }
}
