//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The address of a `ManagedBuffer`: leads to its header and elements, without counting a reference.
///
/// Whoever uses it keeps the buffer until it is done. All is transparent and without closures, so that a debug build
/// inlines it too, and neither counts references nor looks up types at run time: `Protected.write` took three times as
/// long there with the buffer's own methods.
@safe
@usableFromInline
struct BufferAddress<Header, Element> {
    @usableFromInline
    let object: UnsafeMutableRawPointer

    @inlinable
    @_transparent
    init(of buffer: ManagedBuffer<Header, Element>) {
        unsafe object = Unmanaged.passUnretained(buffer).toOpaque()
    }

    /// - Parameter object: The address of the object.
    @inlinable
    @_transparent
    init(_ object: UnsafeMutableRawPointer) {
        unsafe self.object = object
    }
}

// As inlinable code of the standard library has it, in `ManagedBufferPointer`: first the two words of an object, then the
// header, then the elements.
extension BufferAddress {
    @inlinable
    @_transparent
    var header: UnsafeMutablePointer<Header> {
        // An empty header has no place. It does not get that of the first element, as to the thread sanitizer an access
        // to one would be an access to the other, but that of the object's second word, which only the runtime uses.
        let offset = MemoryLayout<Header>.size == 0 ? MemoryLayout<Int>.size : Self.headerOffset
        return unsafe (object + offset).assumingMemoryBound(to: Header.self)
    }

    @inlinable
    @_transparent
    var elements: UnsafeMutablePointer<Element> {
        let offset = Self.roundUp(Self.headerOffset &+ MemoryLayout<Header>.size, MemoryLayout<Element>.alignment)
        return unsafe (object + offset).assumingMemoryBound(to: Element.self)
    }

    @inlinable
    @_transparent
    static var headerOffset: Int {
        roundUp(2 &* MemoryLayout<Int>.size, MemoryLayout<Header>.alignment)
    }

    @inlinable
    @_transparent
    static func roundUp(_ offset: Int, _ alignment: Int) -> Int {
        (offset &+ alignment &- 1) & ~(alignment &- 1)
    }

    /// Checks the address against what the buffer says.
    @inlinable
    func check(_ buffer: ManagedBuffer<Header, Element>) {
        unsafe buffer.withUnsafeMutablePointers { header, elements in
            // An empty header has no place.
            let isRight = unsafe header == self.header || MemoryLayout<Header>.size == 0
            precondition(unsafe isRight && elements == self.elements, "The layout of ManagedBuffer has changed")
        }
    }
}
