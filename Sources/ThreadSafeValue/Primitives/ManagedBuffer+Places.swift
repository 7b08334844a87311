//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Keep the buffer while you use its places.
extension ManagedBuffer {
    /// Where the header is.
    @inlinable @inline(__always) var headerPlace: UnsafeMutablePointer<Header> {
        unsafe withUnsafeMutablePointerToHeader { header in
            if MemoryLayout<Header>.size > 0 { return unsafe header }
            // Not where the first element is: to the thread sanitizer an access to one would be an access to the other.
            // Before it is a word of the object that only the runtime uses.
            let place = unsafe UnsafeMutableRawPointer(header) - MemoryLayout<Int>.size
            return unsafe place.assumingMemoryBound(to: Header.self)
        }
    }

    /// Where the first element is.
    @inlinable @inline(__always)
    var elementsPlace: UnsafeMutablePointer<Element> { unsafe withUnsafeMutablePointerToElements { unsafe $0 } }
}
