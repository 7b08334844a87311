//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if os(Linux) && canImport(Glibc)

import Foundation
import Glibc

/// What this process uses of the machine's memory, in bytes, once free memory was given back.
func residentBytes() throws -> Int {
    trim()
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return Int(pages[1])! * Int(getpagesize())
}

/// - Parameter size: In bytes; no limit with `.max`.
func limitAddresses(to size: Int) {
    var limit = rlimit(rlim_cur: size == .max ? .max : rlim_t(size), rlim_max: .max)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
}

/// Whether a sanitizer watches, which needs memory of its own for each byte.
let isSanitized = unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

/// How often to do what needs luck to fail: less often where a sanitizer watches, which makes all slow, and needs less luck.
func rounds(_ count: Int) -> Int { isSanitized ? count / 5 : count }

/// Gives memory that was freed back to the system. Swift's module of the C library lacks the function.
private func trim() {
    guard let address = unsafe dlsym(nil, "malloc_trim") else { return }
    _ = unsafe unsafeBitCast(address, to: (@convention(c) (Int) -> CInt).self)(0)
}

#endif
