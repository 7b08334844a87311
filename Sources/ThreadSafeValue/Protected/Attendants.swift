//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

internal import Dispatch

/// Those who wait for something of one protected value.
///
/// Three kinds, each with its bit in the word beside the value's lock: threads that wait for the lock itself, but only up
/// to a moment; threads that wait until the value meets a condition; and listeners to changes.
final class Attendants<Value> {
    /// The word beside the value's lock. Touched only while the value lives: by its accesses, and by the listeners until
    /// `dismiss()`.
    let attention: AtomicWord

    /// Those who listen to changes. It has a lock of its own.
    let listeners: ChangeHub<Value>

    // Taken for moments, also by threads that hold the value's lock; never the other way round.
    let lock = PlatformLock()

    // Guarded by `lock`. In the order of their coming.
    var lockWaiters = [LockWaiter]()
    var conditions = [Condition<Value>]()

    /// Whether a scout is on its way, see `LockWaiter`. Guarded by `lock`.
    var isScoutOut = false

    init(attention: AtomicWord) {
        self.attention = attention
        listeners = ChangeHub { isListenedTo in
            attention.set(Attention.toChanges, to: isListenedTo)
            return nil
        }
    }
}

// What is not guarded by one of the locks never changes.
extension Attendants: @unchecked Sendable {}

extension Attendants {
    /// What is to be told, outside the value's lock, after a change.
    struct News {
        fileprivate var met: [Condition<Value>] = []
        fileprivate var asked: [Condition<Value>] = []
        fileprivate var delivery: ChangeHub<Value>.Delivery?

        func deliver() {
            for condition in met { condition.parking.signal() }
            delivery?.deliver()
        }
    }

    /// Notes a change, under the value's lock.
    func note(_ value: Value) -> News? {
        let bits = attention.load()
        if bits & (Attention.toConditions | Attention.toChanges) == 0 { return nil }
        var news = News()
        if bits & Attention.toConditions != 0 { (news.met, news.asked) = settleConditions(with: value) }
        if bits & Attention.toChanges != 0 { news.delivery = listeners.record(value) }
        return news
    }

    /// The value goes away, and nobody accesses it any more.
    func dismiss() {
        listeners.finish()
    }
}
