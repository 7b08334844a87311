//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected {
    /// A member of the value: read as a copy, replaced at once, or changed in place under the lock.
    ///
    /// Stored members are changed in place. A member with `didSet`, a wrapper or a setter of its own is copied out and
    /// put back under the lock, as the language has no other way to it: change it in a `write` closure.
    ///
    /// - Parameter keyPath: Which member.
    @inlinable
    public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Value, Member>) -> Member {
        get {
            storage.get(keyPath)
        }
        nonmutating set {
            var member = newValue
            storage.lock()
            unsafe Swift.swap(&storage.value.pointee[keyPath: keyPath], &member)
            storage.commit()
            // The old member goes away here, where its `deinit` may use the value.
            withExtendedLifetime(member) {}
        }
        nonmutating _modify {
            storage.lock()
            defer { storage.commit() }
            yield unsafe &storage.value.pointee[keyPath: keyPath]
        }
    }

    /// A member of the value that can only be read.
    ///
    /// - Parameter keyPath: Which member.
    @inlinable
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member {
        storage.get(keyPath)
    }
}

extension ProtectedStorage {
    @inlinable
    func get<Member>(_ keyPath: KeyPath<Value, Member>) -> Member {
        lock()
        return scope {
            unsafe value.pointee[keyPath: keyPath]
        } end: {
            unlock()
        }
    }
}
