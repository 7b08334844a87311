//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected {
    /// A member of the value: read as a copy, or changed in place under the lock.
    ///
    /// - Parameter keyPath: Which member.
    @inlinable
    public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Value, Member>) -> Member {
        get {
            storage.lock()
            defer { storage.unlock() }
            return unsafe storage.value.pointee[keyPath: keyPath]
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
        storage.lock()
        defer { storage.unlock() }
        return unsafe storage.value.pointee[keyPath: keyPath]
    }
}
