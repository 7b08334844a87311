//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// A word may keep an object alive, whose address it holds from the first use on.
extension AtomicWord {
    /// The object that the word keeps; whoever needs it first makes it.
    func object<Object: AnyObject>(orMake make: () -> Object) -> Object {
        if load() == 0 {  // fault: an object is made anew
            let made = unsafe Unmanaged.passRetained(make())
            // Another thread may be faster.
            // fault: an object is made anew; each thread has an object
            if unsafe !exchangeReleasing(0, for: Self.bits(made)) { unsafe made.release() }
        }
        return unsafe object().unsafelyUnwrapped
    }

    /// The object that the word keeps, if there is one.
    @inlinable func object<Object: AnyObject>() -> Object? {
        let bits = loadAcquiring()  // fault: order: use an object
        return bits == 0 ? nil : unsafe Self.unmanaged(bits).takeUnretainedValue()
    }

    /// Keeps an object. The word keeps none before, and only one thread uses it.
    func keepObject<Object: AnyObject>(_ object: consuming Object) {
        unsafe store(Self.bits(Unmanaged.passRetained(object)))
    }

    /// Takes the object out that the word has kept, if there is one. Only one thread uses the word.
    func takeObject<Object: AnyObject>() -> Object? {
        let bits = load()
        store(0)
        return bits == 0 ? nil : unsafe Self.unmanaged(bits).takeRetainedValue()
    }

    private static func bits<Object: AnyObject>(_ object: Unmanaged<Object>) -> UInt64 {
        UInt64(UInt(bitPattern: unsafe object.toOpaque()))
    }

    @inlinable static func unmanaged<Object: AnyObject>(_ bits: UInt64) -> Unmanaged<Object> {
        unsafe .fromOpaque(UnsafeRawPointer(bitPattern: UInt(bits)).unsafelyUnwrapped)
    }
}
