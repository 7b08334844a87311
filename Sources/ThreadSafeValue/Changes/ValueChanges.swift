//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The changes of a value as they come: one element for every access that may have changed it.
///
/// It listens from the moment that it is made, so nothing that is changed after that is missed. One that starts with the
/// current value listens from its first element on. The elements are copies, in the order of the changes, and the loop
/// runs in its own task, outside every lock.
///
/// ```swift
/// let level = Protected(0)
/// let changes = level.changes()
/// let printing = Task {
///     for await level in changes { print(level) }
/// }
/// level.wrappedValue = 3
/// ```
///
/// It keeps only the latest value for a loop that is busy; ask for more with ``Buffering``. It ends when the value
/// goes away (what has been kept still comes), and when the task is cancelled (nothing comes any more). It doesn't
/// keep the value alive.
///
/// Every iterator gets every element. The first one has those since the sequence was made, a later one those since it
/// was made itself. Copies of an iterator share its elements and its end: if the task of one is cancelled while it
/// waits, all have come to theirs. So make an iterator for each task.
public struct ValueChanges<Value: Sendable>: Sendable {
    let broadcaster: ChangeBroadcaster<Value>
    let buffering: Buffering
    let start: Start?
    let first: FirstSubscription<Value>

    /// Adds a listener, and gives it the value as it is. Called when its first element is asked for.
    typealias Start = @Sendable (ChangeBroadcaster<Value>.Listener) async -> Void

    /// - Parameters:
    ///   - broadcaster: Hands it the changes.
    ///   - buffering: How many values to keep for a loop that is busy.
    ///   - start: Adds the listeners, if they begin with the value as it is.
    ///   - storage: That of the value. The first listener keeps it until it has begun.
    init(of broadcaster: ChangeBroadcaster<Value>, buffering: Buffering, start: Start?, storage: AnyObject) {
        (self.broadcaster, self.buffering, self.start) = (broadcaster, buffering, start)
        let subscription = ChangeSubscription(to: broadcaster, buffering: buffering, start: start, keeping: storage)
        first = FirstSubscription(subscription)
    }

    /// How many values are kept for a loop that is busy.
    public enum Buffering: Hashable, Sendable {
        /// The latest one. A busy loop skips the others, and comes to the last one in the end.
        case latest

        /// The latest ones, up to a number, which is at least 1.
        case newest(Int)

        /// All. Memory grows as long as the loop is slower than the changes.
        case unbounded
    }
}

extension ValueChanges.Buffering {
    var capacity: Int {
        switch self {
        case .latest: 1
        case .newest(let count): max(count, 1)
        case .unbounded: .max
        }
    }
}

extension ValueChanges: AsyncSequence {
    /// Makes what a `for await` loop uses.
    public func makeAsyncIterator() -> Iterator {
        let subscription = first.take() ?? ChangeSubscription(to: broadcaster, buffering: buffering, start: start)
        return Iterator(subscription: subscription)
    }

    /// What a `for await` loop uses. It listens as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: ChangeSubscription<Value>

        /// The next change.
        ///
        /// - Returns: The value after it, or `nil` when the value has gone away or the task is cancelled.
        public nonisolated(nonsending) mutating func next() async -> Value? {
            await subscription.next()
        }

        /// The next change.
        ///
        /// - Parameter actor: The actor that the loop runs on.
        /// - Returns: The value after it, or `nil` when the value has gone away or the task is cancelled.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            await subscription.next()
        }
    }
}

// An iterator belongs to one task.
@available(*, unavailable)
extension ValueChanges.Iterator: Sendable {}

// Reflection would read what is guarded by locks.

extension ValueChanges: CustomReflectable {
    /// What a debugger or `dump` shows of the sequence: how it keeps values.
    public var customMirror: Mirror {
        Mirror(self, children: ["buffering": buffering], displayStyle: .struct)
    }
}

extension ValueChanges.Iterator: CustomReflectable {
    /// What a debugger or `dump` shows of the iterator: nothing.
    public var customMirror: Mirror {
        Mirror(self, children: [], displayStyle: .struct)
    }
}

/// A listener for as long as this lives.
final class ChangeSubscription<Value: Sendable> {
    private let broadcaster: ChangeBroadcaster<Value>
    private let listener: ChangeBroadcaster<Value>.Listener

    // Guarded by the lock of the broadcaster, as is the listener. Gone once it has been called.
    private var start: ValueChanges<Value>.Start?

    /// The storage of the value, until `start` has returned. Touched by what calls that.
    private var kept: AnyObject?

    init(
        to broadcaster: ChangeBroadcaster<Value>,
        buffering: ValueChanges<Value>.Buffering,
        start: ValueChanges<Value>.Start?,
        keeping storage: AnyObject? = nil
    ) {
        (self.broadcaster, self.start, kept) = (broadcaster, start, start == nil ? nil : storage)
        listener = ChangeBroadcaster.Listener(capacity: buffering.capacity)
        if start == nil { broadcaster.add(listener) }
    }

    deinit {
        broadcaster.remove(listener)
    }
}

// The broadcaster's lock guards all that changes.
extension ChangeSubscription: @unchecked Sendable {}

extension ChangeSubscription {
    nonisolated(nonsending) func next() async -> Value? {
        let value = await withTaskCancellationHandler {
            if let start = broadcaster.lock.around({ start.take() }) {
                await start(listener)
                kept = nil
            }
            return await broadcaster.next(of: listener)
        } onCancel: {
            // What it has not fetched stays: it may wait for the task as it goes away, whose lock in the runtime the
            // calling thread has.
            broadcaster.remove(listener, keepingValues: true)
        }
        if value == nil { broadcaster.remove(listener) }
        return value
    }
}

/// What a sequence of changes keeps instead of the value.
///
/// `@unchecked Sendable`: the reference is written once, and the value is reached with its lock or turn.
struct WeakStorage<Storage: AnyObject>: @unchecked Sendable {
    weak let storage: Storage?
}

/// A subscription that exists already, and waits for the first iterator.
final class FirstSubscription<Value: Sendable> {
    private let lock = PlatformLock()

    // Guarded by `lock`.
    private var subscription: ChangeSubscription<Value>?

    init(_ subscription: ChangeSubscription<Value>) {
        self.subscription = subscription
        schedulerHides(lock)
    }
}

// See `subscription`.
extension FirstSubscription: @unchecked Sendable {}

extension FirstSubscription {
    /// Hands the subscription over, once.
    func take() -> ChangeSubscription<Value>? {
        lock.around { subscription.take() }
    }
}
