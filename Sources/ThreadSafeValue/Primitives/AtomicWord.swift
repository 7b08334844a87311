//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Public, because inlinable code may use nothing less; no public declaration mentions it.
public import CAtomicWord

/// A 64-bit word, in memory that somebody else owns, which threads read and change atomically.
///
/// The one door to `CAtomicWord`. Whoever allocates the memory sets it to `zero` before it is shared, and keeps it at
/// its place until the last use.
@safe @usableFromInline struct AtomicWord {
    @usableFromInline typealias Storage = catomic_word

    /// The first content of the memory.
    @usableFromInline static var zero: Storage { Storage(bits: 0) }

    @usableFromInline let storage: UnsafeMutablePointer<Storage>

    @inlinable @_transparent init(_ storage: UnsafeMutablePointer<Storage>) { unsafe self.storage = storage }

    /// The first stored property of an object of a class without a superclass: it stands behind the two words that
    /// every object begins with.
    init(firstIn object: AnyObject) {
        let address = unsafe Unmanaged.passUnretained(object).toOpaque() + 2 * MemoryLayout<UInt>.size
        unsafe storage = address.assumingMemoryBound(to: Storage.self)
    }

    /// Where the word is.
    @usableFromInline var address: UInt { unsafe UInt(bitPattern: storage) }
}

// What takes acquires, and what gives or tells releases. No exchange has to do both, and one that fails orders nothing.
extension AtomicWord {
    /// The word as it is now, without any order to other memory.
    @inlinable @_transparent func load() -> UInt64 { unsafe catomic_word_load_relaxed(storage) }

    /// The word as it is now; what was written before the word was released is visible.
    @inlinable func loadAcquiring() -> UInt64 { unsafe catomic_word_load_acquire(storage) }

    /// Replaces the word, without any order to other memory.
    @inlinable func store(_ bits: UInt64) { unsafe catomic_word_store_relaxed(storage, bits) }

    /// Replaces the word if it is `expected`; then what was written before the word was released is visible.
    @inlinable @_transparent func exchangeAcquiring(_ expected: UInt64, for desired: UInt64) -> Bool {
        unsafe catomic_word_exchange_acquiring(storage, expected, desired)
    }

    /// Replaces the word if it is `expected`; what this thread wrote is visible to a thread that
    /// acquires the word later.
    @inlinable @_transparent func exchangeReleasing(_ expected: UInt64, for desired: UInt64) -> Bool {
        unsafe catomic_word_exchange_releasing(storage, expected, desired)
    }

    /// Adds one, for a word that only one thread at a time writes.
    func increment() { store(load() &+ 1) }
}

/// A number that no other living thread has; its four lowest and its eight highest bits are zero.
@inlinable @_transparent func currentThreadIdentity() -> UInt64 { catomic_word_thread_identity() }

/// How many processors run.
func processorCount() -> Int { Int(catomic_word_processor_count()) }

/// Lets other threads run on this processor first.
func yieldProcessor() { catomic_word_yield() }

/// Lets about 25 ns pass, and tells the processor that this thread spins, so that it saves power and leaves room to its
/// neighbour.
func pauseSpinning() {
    // On virtual time nothing changes meanwhile.
    if schedulerTime() != nil { return }
    for _ in 0..<pausesPerSpin { catomic_word_pause() }
}

/// How many pauses of the processor last about 25 ns. One lasts from 1 to 50 ns, so they are measured, once.
private let pausesPerSpin: Int = {
    // The shortest of some, as the thread may be stopped in between.
    let times = (0..<5).map { _ in
        let start = now()
        for _ in 0..<100 { catomic_word_pause() }
        return now() - start
    }
    return max(1, Int(2_500 / max(1, times.min() ?? 1)))
}()
