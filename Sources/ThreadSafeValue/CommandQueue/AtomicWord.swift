//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Public, because inlinable code may use nothing less; no public declaration mentions it.
public import CAtomicWord

/// A 64-bit word, in memory that somebody else owns, which threads read and change atomically.
///
/// The one door to `CAtomicWord`. Whoever allocates the memory sets it to `zero` before it is shared, and keeps it at its
/// place until the last use.
@safe
@usableFromInline
struct AtomicWord {
    @usableFromInline
    typealias Storage = catomic_word

    /// What the memory holds at first.
    @usableFromInline
    static var zero: Storage { Storage(bits: 0) }

    @usableFromInline
    let storage: UnsafeMutablePointer<Storage>

    @inlinable
    init(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe self.storage = storage
    }
}

extension AtomicWord {
    /// The word as it is now, without any order to other memory.
    @inlinable
    func load() -> UInt64 {
        unsafe catomic_word_load_relaxed(storage)
    }

    /// Replaces the word, without any order to other memory.
    @inlinable
    func store(_ bits: UInt64) {
        unsafe catomic_word_store_relaxed(storage, bits)
    }

    /// Replaces the word if it is `expected`; then what was written before the word was released is visible.
    @inlinable
    func exchangeAcquiring(_ expected: UInt64, for desired: UInt64) -> Bool {
        unsafe catomic_word_exchange_acquiring(storage, expected, desired)
    }

    /// Replaces the word if it is `expected`; what this thread wrote is visible to who acquires the word after that.
    @inlinable
    func exchangeReleasing(_ expected: UInt64, for desired: UInt64) -> Bool {
        unsafe catomic_word_exchange_releasing(storage, expected, desired)
    }

    /// Subtracts `bits` from the word; what this thread wrote is visible to who acquires the word after that.
    ///
    /// - Returns: the word as it was before.
    @inlinable
    func subtractReleasing(_ bits: UInt64) -> UInt64 {
        unsafe catomic_word_subtract_releasing(storage, bits)
    }

    /// Replaces the word if it is `expected`, acquiring and releasing.
    @inlinable
    func exchange(_ expected: UInt64, for desired: UInt64) -> Bool {
        unsafe catomic_word_exchange(storage, expected, desired)
    }
}

/// A number that no other living thread has; its four lowest and its eight highest bits are zero.
@inlinable
func currentThreadIdentity() -> UInt64 {
    catomic_word_thread_identity()
}

/// Makes what was read without order before come before all that is read after.
func fenceAcquiring() {
    catomic_word_fence_acquiring()
}

/// How many processors run.
func processorCount() -> Int {
    Int(catomic_word_processor_count())
}

/// Lets other threads run on this processor first.
func yieldProcessor() {
    catomic_word_yield()
}

/// Tells the processor that this thread spins, so that it saves power and leaves room to its neighbour.
@inlinable
func pauseSpinning() {
    catomic_word_pause()
}
