//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A sequence of the changes of a value: one element for every access that may have changed the value.
///
/// The sequence listens from the moment when it is made, and misses no change after that. If it starts with the current
/// value, it listens from its first element on. The elements are copies, in the order of the changes. The loop runs in
/// its own task, outside every lock.
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
/// The sequence keeps only the latest value for a loop that is busy; ask for more with ``Buffering``. When the value goes
/// away, the loop ends after the values that were kept. When the task is cancelled, the loop ends at once. The sequence
/// does not keep the value alive.
///
/// Every iterator gets every element. The first iterator gets the changes since the sequence was made. A later one gets
/// the changes since that iterator was made. Copies of an iterator share its elements and its end: if the task of one copy
/// is cancelled while it waits, all copies end. So make an iterator for each task.
public struct ValueChanges<Value: Sendable>: Sendable {
    let broadcaster: ChangeBroadcaster<Value>
    let buffering: Buffering
    let start: Start?
    let first: FirstSubscription<Value>

    /// Adds a listener, and gives it the current value. Called when a loop asks for its first element.
    typealias Start = @Sendable (ChangeBroadcaster<Value>.Listener) async -> Void

    /// - Parameters:
    ///   - broadcaster: The source of the changes.
    ///   - buffering: How many values are kept for a loop that is busy.
    ///   - start: Adds the listeners, if they begin with the current value.
    ///   - storage: The storage of the value. The first listener keeps it until the listener has begun.
    init(of broadcaster: ChangeBroadcaster<Value>, buffering: Buffering, start: Start?, storage: AnyObject) {
        (self.broadcaster, self.buffering, self.start) = (broadcaster, buffering, start)
        let subscription = ChangeSubscription(to: broadcaster, buffering: buffering, start: start, keeping: storage)
        first = FirstSubscription(subscription)
    }

    /// How many values a sequence keeps for a loop that is busy.
    public enum Buffering: Hashable, Sendable {
        /// The sequence keeps the latest value. A busy loop skips the others, and gets the last one in the end.
        case latest

        /// The sequence keeps as many of the newest values as the number says, and at least 1.
        case newest(Int)

        /// The sequence keeps all values. Memory grows while the loop is slower than the changes.
        case unbounded
    }
}

extension ValueChanges: AsyncSequence {
    /// Makes the iterator that a `for await` loop uses.
    public func makeAsyncIterator() -> Iterator {
        let known = broadcaster.lock.forMoment { first.subscription.take() }
        return Iterator(subscription: known ?? ChangeSubscription(to: broadcaster, buffering: buffering, start: start))
    }

    /// The iterator that a `for await` loop uses. It listens for as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: ChangeSubscription<Value>

        /// Waits for the next change.
        ///
        /// - Returns: The value after the change; `nil` when the value has gone away or the task is cancelled.
        public nonisolated(nonsending) mutating func next() async -> Value? { await subscription.next() }

        /// Waits for the next change.
        ///
        /// - Parameter actor: The actor that the loop runs on.
        /// - Returns: The value after the change; `nil` when the value has gone away or the task is cancelled.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? { await subscription.next() }
    }
}

// An iterator belongs to one task.
@available(*, unavailable)
extension ValueChanges.Iterator: Sendable {}

// Without these mirrors, reflection would read variables that locks guard.

extension ValueChanges: CustomReflectable {
    /// A mirror for `dump` and debuggers, which shows how the sequence keeps values.
    public var customMirror: Mirror { Mirror(self, children: ["buffering": buffering], displayStyle: .struct) }
}

extension ValueChanges.Iterator: CustomReflectable {
    /// A mirror for `dump` and debuggers, which shows nothing of the iterator.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// Keeps a listener for as long as the subscription lives.
final class ChangeSubscription<Value: Sendable> {
    private let broadcaster: ChangeBroadcaster<Value>
    private let listener: ChangeBroadcaster<Value>.Listener

    // The lock of the broadcaster guards it, as it does the listener. It is `nil` once it was called.
    private var start: ValueChanges<Value>.Start?

    /// The storage of the value, until `start` has returned. Only the caller of `start` uses it.
    private var kept: AnyObject?

    init(
        to broadcaster: ChangeBroadcaster<Value>,
        buffering: ValueChanges<Value>.Buffering,
        start: ValueChanges<Value>.Start?,
        keeping storage: AnyObject? = nil
    ) {
        (self.broadcaster, self.start, kept) = (broadcaster, start, start == nil ? nil : storage)
        let capacity =
            switch buffering {
            case .latest: 1
            case .newest(let count): max(count, 1)
            case .unbounded: Int.max
            }
        listener = ChangeBroadcaster.Listener(capacity: capacity)
        if start == nil { broadcaster.add(listener) }
    }

    deinit { broadcaster.remove(listener) }
}

// The broadcaster's lock guards everything that changes.
extension ChangeSubscription: @unchecked Sendable {}

extension ChangeSubscription {
    nonisolated(nonsending) func next() async -> Value? {
        let value = await withTaskCancellationHandler {
            if let start = broadcaster.lock.forMoment({ start.take() }) {
                await start(listener)
                kept = nil
            }
            return await broadcaster.next(of: listener)
        } onCancel: {
            // The values that were not fetched stay. Their `deinit` may wait for the task, and the calling thread holds a lock
            // of the runtime for that task.
            broadcaster.remove(listener, keepingValues: true)  // fault: unread changes end too early
        }
        if value == nil { broadcaster.remove(listener) }
        return value
    }
}

/// A weak reference that a sequence of changes keeps instead of the value.
///
/// It is `@unchecked Sendable` because the reference is written once, and the value is used only with its lock or turn.
struct WeakStorage<Storage: AnyObject>: @unchecked Sendable { weak let storage: Storage? }

/// The subscription that a sequence makes at once, for its first iterator.
final class FirstSubscription<Value: Sendable> {
    // Guarded by the lock of the broadcaster.
    var subscription: ChangeSubscription<Value>?

    init(_ subscription: ChangeSubscription<Value>) { self.subscription = subscription }
}

// The lock of the broadcaster guards the subscription.
extension FirstSubscription: @unchecked Sendable {}
