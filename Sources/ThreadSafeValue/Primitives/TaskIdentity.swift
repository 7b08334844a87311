//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A number that no other living task, and no living thread, has; 0 outside a task.
///
/// It is the address of the task, in the bits that the identity of a thread has. A child is another task, and so is one
/// that a closure starts.
@usableFromInline
func currentTaskIdentity() -> UInt64 {
    unsafe withUnsafeCurrentTask { task in
        unsafe task.map { unsafe UInt64(unsafeBitCast($0, to: UInt.self)) & identityBits } ?? 0
    }
}

/// The bits of a word in which the identity of a thread or a task stands.
@inlinable
var identityBits: UInt64 { 0x00FF_FFFF_FFFF_FFF0 }
