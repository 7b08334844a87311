//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if os(Linux) && canImport(Glibc)

import Glibc

/// Uses up all memory of this process: from now on whoever allocates on this thread crashes, or waits for ever.
///
/// A way to see that code allocates nothing, without standing before the allocator. For child processes only.
func useUpMemory() {
    // No address space beyond what there is; then everything that is free, of each size.
    limitAddresses(to: 0)
    for size in stride(from: 1 << 20, to: 4_096, by: -4_096) { while isAllocated(size) {} }
    for size in stride(from: 4_096, to: 0, by: -8) { while isAllocated(size) {} }
}

/// A pointer that nobody looks at, the optimizer would not even ask for.
@_optimize(none)
private func isAllocated(_ size: Int) -> Bool {
    unsafe malloc(size) != nil
}

#endif
