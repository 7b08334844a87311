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
        /// What it is to a value, so that the monitor can look at it.
        var role = Role.other
    }

    enum Role {
        /// The turn word.
        case turn
        /// A `BargingDeadline`, whose single nanoseconds count for nothing. Changed only under this lock.
        case deadline(UnsafeMutablePointer<PlatformLock.Storage>)
        /// Changed only under this lock.
        case guarded(UnsafeMutablePointer<PlatformLock.Storage>)
        /// How many commands a lane may begin without the lock.
        case grant
        /// Whether the block of a lane is a probe that has come and gone.
        case probe
        case other
    }

    static var zero: Storage { Storage(bits: 0, id: world.newObject()) }

    @usableFromInline
    let storage: UnsafeMutablePointer<Storage>

    @usableFromInline
    init(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe self.storage = storage
    }
}

// Not inlined: the optimizer may end the life of an object of the caller, and run its `deinit`, between the look and
// the change.
extension AtomicWord {
    @usableFromInline
    @inline(never)
    func load() -> UInt64 {
        // Nobody can change it meanwhile, so it makes no difference when it is read.
        if unsafe storage.pointee.isUnderLockOfCaller { return unsafe storage.pointee.bits }
        return step("load")
    }

    @usableFromInline
    func loadAcquiring() -> UInt64 { load() }

    @usableFromInline
    @inline(never)
    func store(_ bits: UInt64) {
        _ = step("store", bits)
        change(to: bits)
    }

    func storeReleasing(_ bits: UInt64) { store(bits) }

    @usableFromInline
    func exchangeAcquiring(_ expected: UInt64, for desired: UInt64) -> Bool {
        exchange(expected, for: desired)
    }

    @usableFromInline
    func exchangeReleasing(_ expected: UInt64, for desired: UInt64) -> Bool {
        exchange(expected, for: desired)
    }

    @usableFromInline
    @inline(never)
    func exchange(_ expected: UInt64, for desired: UInt64) -> Bool {
        let isExpected = step("exchange", desired) == expected
        if isExpected { change(to: desired) }
        return isExpected
    }
}

extension AtomicWord {
    var address: UInt { unsafe UInt(bitPattern: storage) }
}

// A word may keep an object. It is made once, and what it is made from does not change, so it makes no difference when.
extension AtomicWord {
    @inline(never)
    func object<Object: AnyObject>(orMake make: () -> Object) -> Object {
        if let object: Object = object() { return object }
        let made = make()
        unsafe storage.pointee.bits = UInt64(UInt(bitPattern: Unmanaged.passRetained(made).toOpaque()))
        return made
    }

    @inline(never)
    func object<Object: AnyObject>() -> Object? {
        unsafe pointer.map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    @inline(never)
    func takeObject<Object: AnyObject>() -> Object? {
        unsafe pointer.map { unsafe Unmanaged.fromOpaque($0).takeRetainedValue() }
    }

    private var pointer: UnsafeRawPointer? {
        unsafe UnsafeRawPointer(bitPattern: UInt(storage.pointee.bits))
    }
}

extension AtomicWord {
    /// Lets others run, then looks at the word.
    private func step(_ name: StaticString, _ argument: UInt64 = 0) -> UInt64 {
        world.pass(.run(name, argument))
        let bits = unsafe storage.pointee.bits
        unsafe world.current.observe(storage.pointee.facts(bits))
        switch unsafe storage.pointee.role {
        // A command may begin after it.
        case .turn, .grant: world.monitor.looked(world.current)
        case .probe: world.monitor.looksForLateLanes(world.current)
        case .deadline, .guarded, .other: break
        }
        if world.isVerbose { world.log("     finds \(String(bits, radix: 16))") }
        return bits
    }

    private func change(to bits: UInt64) {
        let old = unsafe storage.pointee.facts(storage.pointee.bits)
        unsafe world.objectChanged(storage.pointee.id, from: old, to: storage.pointee.facts(bits))
        unsafe storage.pointee.bits = bits
    }
}

extension AtomicWord.Storage {
    fileprivate var isUnderLockOfCaller: Bool {
        switch role {
        case .deadline(let lock), .guarded(let lock): unsafe lock.pointee.holder == world.current.index
        case .turn, .grant, .probe, .other: false
        }
    }

    /// All of its bits that count.
    fileprivate func facts(_ bits: UInt64) -> UInt64 {
        if case .deadline = role { mix(bits & 0b111, World.rounded(bits >> 3)) } else { bits }
    }
}

/// The identity of the virtual thread.
@usableFromInline
func currentThreadIdentity() -> UInt64 {
    world.current.identity
}

@usableFromInline
func pauseSpinning() {}

func yieldProcessor() {}

func processorCount() -> Int { 2 }
