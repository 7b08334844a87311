//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Waiting for the next change without a copy of the value.

/// A thread or a task that waits for the next change, to look at the value itself: it gets no copy.
@usableFromInline
final class ChangeObserver {
    /// Where a thread sleeps; a task has none.
    let parker: Parker?

    // Guarded by the broadcaster's lock.

    @usableFromInline
    package var place: Int?

    /// Whether there was a change since the observer looked at the value.
    fileprivate var hasChanged = false

    /// What a task that is suspended goes on with.
    fileprivate var continuation: CheckedContinuation<Void, Never>?

    init(_ parker: Parker?) {
        self.parker = parker
    }
}

// See the members.
extension ChangeObserver: @unchecked Sendable {}
extension ChangeObserver: Placed {}

extension ChangeBroadcaster {
    /// An observer looks at the value, while nobody can change it: from now on it waits for the next change.
    func observe(_ observer: ChangeObserver) {
        lock.around {
            observer.hasChanged = false
            if observer.place != nil { return }
            observers.append(observer)
            updateListening()
        }
    }

    /// An observer waits no more.
    func remove(_ observer: ChangeObserver) {
        lock.around {
            observers.remove(observer)
            updateListening()
        }
    }

    // Under the lock. Each is told once, and goes: thousands that have not looked again cost the next changes nothing.
    // The storage hears that they have gone when they look, or wait no more. Not inlined, as it is for few.
    @usableFromInline
    @inline(never)
    func notifyObservers(_ delivery: inout Delivery) {
        observers.removeAll { observer in
            if observer.hasChanged { return }
            observer.hasChanged = true
            if let parker = observer.parker { delivery.parkers.append(parker) }
            if let continuation = observer.continuation.take() { delivery.waiting.append(continuation) }
        }
    }

    /// Parks the thread of an observer until there is a change, or a time is over.
    func wait(_ observer: ChangeObserver, until deadline: Deadline) {
        while !lock.around({ observer.hasChanged }), observer.parker!.park(until: deadline.time) {}
    }

    /// Suspends the task of an observer until there is a change, or it is woken.
    nonisolated(nonsending) func wait(_ observer: ChangeObserver) async {
        await withCheckedContinuation { continuation in
            let isToWait = lock.around {
                if !observer.hasChanged { observer.continuation = continuation }
                return !observer.hasChanged
            }
            if !isToWait { continuation.resume() }
        }
    }

    /// Lets the task of an observer go on, now or when it waits the next time.
    func wake(_ observer: ChangeObserver) {
        let continuation = lock.around {
            observer.hasChanged = true
            return observer.continuation.take()
        }
        continuation?.resume()
    }
}
