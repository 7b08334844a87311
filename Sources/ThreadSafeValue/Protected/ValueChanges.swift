//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The changes of a value as they come: one element for every access that may have changed it.
///
/// It listens from the moment that it is made, so nothing that is changed after that is missed. The elements are copies, in
/// the order of the changes, and the loop runs in its own task, outside every lock.
///
/// ```swift
/// let level = Protected(0)
/// let changes = level.changes
/// let printing = Task {
///     for await level in changes { print(level) }
/// }
/// level.wrappedValue = 3
/// ```
///
/// It keeps only the latest value for a loop that is busy; ask for more with ``Buffering``. It ends when the value goes away
/// (what has been kept still comes), and when the task is cancelled (nothing comes any more). It doesn't keep the value alive.
///
/// Every iterator gets every element. The first one has those since the sequence was made, a later one those since it was
/// made itself.
public struct ValueChanges<Value: Sendable>: Sendable {
    let hub: ChangeHub<Value>
    let buffering: Buffering

    // Listens already, and waits for the first iterator.
    let first: Protected<ChangeListener<Value>?>

    init(of hub: ChangeHub<Value>, buffering: Buffering) {
        self.hub = hub
        self.buffering = buffering
        first = Protected(ChangeListener(hub: hub, buffering: buffering))
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
        Iterator(listener: first.exchange(nil) ?? ChangeListener(hub: hub, buffering: buffering))
    }

    /// What a `for await` loop uses. It listens as long as it lives.
    public struct Iterator: AsyncIteratorProtocol {
        let listener: ChangeListener<Value>

        /// The next change.
        ///
        /// - Returns: The value after it, or `nil` when the value has gone away or the task is cancelled.
        public nonisolated(nonsending) mutating func next() async -> Value? {
            await listener.next()
        }

        /// The next change.
        ///
        /// - Parameter actor: The actor that the loop runs on.
        /// - Returns: The value after it, or `nil` when the value has gone away or the task is cancelled.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            await listener.next()
        }
    }
}

// An iterator belongs to one task.
@available(*, unavailable)
extension ValueChanges.Iterator: Sendable {}

/// One who listens as long as this lives.
final class ChangeListener<Value: Sendable>: Sendable {
    private let hub: ChangeHub<Value>
    private let id: UInt64

    init(hub: ChangeHub<Value>, buffering: ValueChanges<Value>.Buffering) {
        self.hub = hub
        id = hub.add(capacity: buffering.capacity)
    }

    deinit {
        hub.remove(id)
    }
}

extension ChangeListener {
    nonisolated(nonsending) func next() async -> Value? {
        await withTaskCancellationHandler {
            await hub.next(of: id)
        } onCancel: {
            hub.remove(id)
        }
    }
}
