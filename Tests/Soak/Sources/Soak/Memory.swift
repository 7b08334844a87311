//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(Glibc)
import Glibc
#endif

/// What this process uses of the machine's memory, in bytes, once free memory was given back; `nil` where nothing
/// tells.
func residentBytes() -> Int? {
    #if canImport(Glibc)
    // Swift's module of the C library lacks the function.
    if let address = unsafe dlsym(nil, "malloc_trim") {
        _ = unsafe unsafeBitCast(address, to: (@convention(c) (Int) -> CInt).self)(0)
    }
    guard let file = unsafe fopen("/proc/self/statm", "r") else { return nil }
    defer { unsafe fclose(file) }
    guard let line = unsafe readLine(from: file) else { return nil }
    return Int(line.split(separator: " ")[1]).map { $0 * Int(getpagesize()) }
    #else
    return nil
    #endif
}

#if canImport(Glibc)
private func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
}
#endif
