//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Synchronization
import ThreadSafeValue

// Public generic classes around a value, in a module of their own: their users do not see the code, so that it is not
// specialized for the type of the value.

/// A protected value.
public final class ProtectedBox<Value: Sendable>: Sendable {
    private let value: Protected<Value>

    /// Makes a value.
    public init(_ value: Value) {
        self.value = Protected(value)
    }

    /// Changes the value.
    @inline(never)
    public func change(_ body: (inout Value) -> Void) {
        value.write { body(&$0) }
    }

    /// Replaces the value.
    @inline(never)
    public func set(_ newValue: Value) {
        value.wrappedValue = newValue
    }

    /// A copy of the value.
    @inline(never)
    public func get() -> Value {
        value.wrappedValue
    }
}

/// A queue-safe value.
public final class QueueSafeBox<Value: Sendable>: Sendable {
    private let value: QueueSafeValue<Value>

    /// Makes a value.
    public init(_ value: Value) {
        self.value = QueueSafeValue(value: value)
    }

    /// Changes the value.
    @inline(never)
    public func change(_ body: (inout Value) -> Void) {
        value.wait.highestPriority.set { body(&$0) }
    }

    /// Changes the value, and asks for no copy of it.
    @inline(never)
    public func update(_ body: (inout Value) -> Void) {
        value.wait.highestPriority.update { body(&$0) }
    }

    /// A copy of the value.
    @inline(never)
    public func get() -> Value? {
        try? value.wait.highestPriority.get().get()
    }
}

/// A value behind the lock of the standard library.
public final class MutexBox<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    /// Makes a value.
    public init(_ value: Value) {
        self.value = Mutex(value)
    }

    /// Changes the value.
    @inline(never)
    public func change(_ body: (inout Value) -> Void) {
        value.withLock { body(&$0) }
    }

    /// Changes the value, and makes a result, as `set` does. Nobody uses the result.
    @inline(never)
    public func changeAndAnswer(_ body: (inout Value) -> Void) {
        _ = value.withLock { value -> Result<Value, QueueSafeValueError> in
            body(&value)
            return .success(value)
        }
    }

    /// Replaces the value.
    @inline(never)
    public func set(_ newValue: Value) {
        value.withLock { $0 = newValue }
    }

    /// A copy of the value.
    @inline(never)
    public func get() -> Value {
        value.withLock { $0 }
    }
}

/// A protected list.
public final class ProtectedList<Element: Sendable>: Sendable {
    private let items: Protected<[Element]>

    /// Makes a list.
    public init(_ items: [Element]) { self.items = Protected(items) }

    /// The number of elements.
    @inline(never)
    public var count: Int { items.count }
}

/// A list behind the lock of the standard library.
public final class MutexList<Element: Sendable>: Sendable {
    private let items: Mutex<[Element]>

    /// Makes a list.
    public init(_ items: [Element]) { self.items = Mutex(items) }

    /// The number of elements.
    @inline(never)
    public var count: Int { items.withLock { $0.count } }
}
