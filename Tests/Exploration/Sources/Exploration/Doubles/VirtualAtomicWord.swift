//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of the library's atomic word: each operation is one step, and other threads may run before it.
///
/// Memory is sequentially consistent here: what a weaker order would allow is not explored.
@safe
@usableFromInline
struct AtomicWord {
    @usableFromInline
    struct Storage {
        var bits: UInt64
        // What names the word in every execution alike; an address would not.
        var id: UInt64
        var role = Role.other
    }

    enum Role {
        /// The turn word of a value.
        case turn(Int)
        /// It keeps an object, which is made once.
        case object
        case other
    }

    static var zero: Storage { Storage(bits: 0, id: world.newObject()) }

    @usableFromInline
    let storage: UnsafeMutablePointer<Storage>

    @usableFromInline
    init(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe self.storage = storage
    }

    init(firstIn object: AnyObject) {
        let address = unsafe Unmanaged.passUnretained(object).toOpaque() + 2 * MemoryLayout<UInt>.size
        unsafe storage = address.assumingMemoryBound(to: Storage.self)
    }

    var address: UInt { unsafe UInt(bitPattern: storage) }
}

// Not inlined: the optimizer may end the life of an object of the caller, and run its `deinit`, between the look and
// the change.
extension AtomicWord {
    @usableFromInline
    @inline(never)
    func load() -> UInt64 {
        switch unsafe storage.pointee.role {
        case .object: return unsafe storage.pointee.bits
        default: return step("load")
        }
    }

    @usableFromInline
    func loadAcquiring() -> UInt64 { load() }

    @usableFromInline
    @inline(never)
    func store(_ bits: UInt64) {
        _ = step("store", bits)
        change(to: bits)
    }

    @usableFromInline
    func exchangeAcquiring(_ expected: UInt64, for desired: UInt64) -> Bool { exchange(expected, for: desired) }

    @usableFromInline
    func exchangeReleasing(_ expected: UInt64, for desired: UInt64) -> Bool { exchange(expected, for: desired) }

    @usableFromInline
    @inline(never)
    func exchange(_ expected: UInt64, for desired: UInt64) -> Bool {
        let isExpected = step("exchange", desired) == expected
        if isExpected { change(to: desired) }
        return isExpected
    }

    @inline(never)
    func increment() {
        unsafe change(to: step("increment") + 1)
    }

    private func step(_ name: StaticString, _ argument: UInt64 = 0) -> UInt64 {
        world.pass(.run(name, argument))
        let bits = unsafe storage.pointee.bits
        world.current.observe(bits)
        if case .turn(let value) = unsafe storage.pointee.role { world.monitor.looked(at: value) }
        if world.isVerbose { world.log("     finds \(String(bits, radix: 16))") }
        return bits
    }

    private func change(to bits: UInt64) {
        let old = unsafe storage.pointee.bits
        unsafe world.objectChanged(storage.pointee.id, from: old, to: bits)
        unsafe storage.pointee.bits = bits
        if case .turn(let value) = unsafe storage.pointee.role {
            world.monitor.turnChanged(of: value, from: TurnWord(bits: old).holder, to: TurnWord(bits: bits).holder)
        }
    }
}

// A word may keep an object. It is made once, and what it is made from does not change, so it makes no difference when.
extension AtomicWord {
    @inline(never)
    func object<Object: AnyObject>(orMake make: () -> Object) -> Object {
        if let object: Object = object() { return object }
        let made = make()
        unsafe storage.pointee.bits = UInt64(UInt(bitPattern: Unmanaged.passRetained(made).toOpaque()))
        unsafe storage.pointee.role = .object
        return made
    }

    @inline(never)
    func object<Object: AnyObject>() -> Object? {
        let bits = unsafe storage.pointee.bits
        return bits == 0 ? nil : unsafe Self.unmanaged(bits).takeUnretainedValue()
    }

    @inline(never)
    func takeObject<Object: AnyObject>() -> Object? {
        let bits = unsafe storage.pointee.bits
        return bits == 0 ? nil : unsafe Self.unmanaged(bits).takeRetainedValue()
    }

    @usableFromInline
    static func unmanaged<Object: AnyObject>(_ bits: UInt64) -> Unmanaged<Object> {
        unsafe .fromOpaque(UnsafeRawPointer(bitPattern: UInt(bits)).unsafelyUnwrapped)
    }
}

/// The identity of the virtual thread.
@usableFromInline
func currentThreadIdentity() -> UInt64 { world.current.identity }

@usableFromInline
func pauseSpinning() {}

func processorCount() -> Int { 2 }
