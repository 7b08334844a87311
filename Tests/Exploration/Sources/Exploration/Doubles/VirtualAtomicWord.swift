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
        /// Whether it is the turn word of a value, at whose steps the monitor looks.
        var isTurn = false
    }

    static var zero: Storage { Storage(bits: 0, id: world.newObject()) }

    @usableFromInline
    let storage: UnsafeMutablePointer<Storage>

    @usableFromInline
    init(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe self.storage = storage
    }
}

// Not inlined: the optimizer may end the life of an object of the caller, and run its `deinit`, between the look and the change.
extension AtomicWord {
    @usableFromInline
    @inline(never)
    func load() -> UInt64 {
        step("load")
    }

    @usableFromInline
    @inline(never)
    func store(_ bits: UInt64) {
        _ = step("store", bits)
        change(to: bits)
    }

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
    func subtractReleasing(_ bits: UInt64) -> UInt64 {
        let before = step("subtract", bits)
        change(to: before &- bits)
        return before
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
    /// Lets others run, then looks at the word.
    private func step(_ name: StaticString, _ argument: UInt64 = 0) -> UInt64 {
        world.pass(.run(name, argument))
        let bits = unsafe storage.pointee.bits
        world.current.observe(bits)
        if unsafe storage.pointee.isTurn { world.monitor.looked(world.current) }
        if world.isVerbose { world.log("     finds \(String(bits, radix: 16))") }
        return bits
    }

    private func change(to bits: UInt64) {
        unsafe world.objectChanged(storage.pointee.id, from: storage.pointee.bits, to: bits)
        unsafe storage.pointee.bits = bits
    }
}

/// The identity of the virtual thread.
@usableFromInline
func currentThreadIdentity() -> UInt64 {
    world.current.identity
}

func fenceAcquiring() {}

@usableFromInline
func pauseSpinning() {}

func yieldProcessor() {}

func processorCount() -> Int { 2 }
