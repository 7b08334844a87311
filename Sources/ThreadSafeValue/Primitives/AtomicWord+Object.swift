//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// A word may keep an object alive, whose address it holds from the first use on.
extension AtomicWord {
    /// The object that the word keeps; whoever needs it first makes it.
    func object<Object: AnyObject>(orMake make: () -> Object) -> Object {
        if load() == 0 {  // fault: an object is made anew
            let made = unsafe Unmanaged.passRetained(make())
            if unsafe exchange(0, for: UInt64(UInt(bitPattern: made.toOpaque()))) {  // fault: an object is made anew
                return unsafe made.takeUnretainedValue()
            }
            // Another thread was faster.
            unsafe made.release()  // fault: each thread has an object
        }
        return unsafe object().unsafelyUnwrapped
    }

    /// The object that the word keeps, if there is one.
    @inlinable
    func object<Object: AnyObject>() -> Object? {
        let bits = loadAcquiring()  // fault: order: use an object
        return bits == 0 ? nil : unsafe Self.unmanaged(bits).takeUnretainedValue()
    }

    /// The object that the word has kept, if there is one. Nobody may use the word any more.
    func takeObject<Object: AnyObject>() -> Object? {
        let bits = load()
        return bits == 0 ? nil : unsafe Self.unmanaged(bits).takeRetainedValue()
    }

    @inlinable
    static func unmanaged<Object: AnyObject>(_ bits: UInt64) -> Unmanaged<Object> {
        unsafe .fromOpaque(UnsafeRawPointer(bitPattern: UInt(bits)).unsafelyUnwrapped)
    }
}
