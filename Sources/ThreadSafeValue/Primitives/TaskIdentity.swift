//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A number that no other living task, and no living thread, has; 0 outside a task.
///
/// It is the address of the task, in the bits that the identity of a thread has. A child is another task, and so is one
/// that a closure starts.
@usableFromInline func currentTaskIdentity() -> UInt64 {
    unsafe withUnsafeCurrentTask { task in
        unsafe task.map { unsafe UInt64(unsafeBitCast($0, to: UInt.self)) & identityBits } ?? 0
    }
}

/// Lifts the priority of a task with an identity, where the runtime can. The task must not end meanwhile.
///
/// A priority is a number here: the layout of a `TaskPriority` is known only at run time, and what has one is slow.
func liftPriority(of task: UInt64, to priority: UInt8) {
    // On Android, addresses of the system's allocator may have tags that an identity has not.
    #if !os(Android)
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        unsafe unsafeBitCast(UInt(task & identityBits), to: UnsafeCurrentTask.self).escalatePriority(
            to: TaskPriority(rawValue: priority)
        )
    }
    #endif
}

/// The bits of a word in which the identity of a thread or a task stands.
@inlinable var identityBits: UInt64 { 0x00FF_FFFF_FFFF_FFF0 }
