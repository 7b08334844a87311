//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected {
    /// A member of the value: you read a copy, replace it, or change it in place under the lock.
    ///
    /// A stored member is changed in place. A member with `didSet`, a property wrapper or its own setter is copied out and
    /// written back under the lock, even when you replace it. Change a large member of that kind in a `write` closure.
    ///
    /// - Parameter keyPath: The path to the member.
    @inlinable public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Value, Member>) -> Member {
        @inline(__always) get { copy(keyPath) }
        @inline(__always) nonmutating set {
            var member = newValue
            write { swap(&$0[keyPath: keyPath], &member) }
            // The old member is released here, where its `deinit` may use the value. So is the new member, if a setter
            // drops it.
            withExtendedLifetime((member, newValue)) {}
        }
        nonmutating _modify {
            storage.lock()  // fault: a member changes unlocked
            defer { storage.commit() }  // fault: a member changes unlocked
            yield unsafe &storage.value.pointee[keyPath: keyPath]
        }
    }

    // Disfavored, so that the compiler names one member in an error where the code after the member is wrong.
    /// A copy of a member that can only be read.
    ///
    /// - Parameter keyPath: The path to the member.
    @inlinable @_disfavoredOverload public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member {
        @inline(__always) get { copy(keyPath) }
    }

    /// A copy of a member. The copy is released after the lock, even if nobody uses it. Values along a longer key path are
    /// released under the lock.
    ///
    /// This function and its callers are transparent, so the compiler turns the key path into a plain load in the code
    /// that names the member. A call of it copied the whole value, and took nine times as long.
    @inlinable @_transparent func copy<Member>(_ keyPath: KeyPath<Value, Member>) -> Member {
        storage.lock()
        let member = unsafe storage.value.pointee[keyPath: keyPath]
        storage.unlock()
        _fixLifetime(member)
        return member
    }
}

// The subscript uses no key path: Swift 6.3 compiles a key path to an element of an `InlineArray` to a wrong address.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension Protected {
    /// An element of the value: you read a copy, replace it, or change it in place under the lock.
    ///
    /// - Parameter index: The index of the element. The program crashes if there is no such element.
    @inlinable
    public subscript<let count: Int, Element>(index: Int) -> Element where Value == InlineArray<count, Element> {
        get { read { $0[index] } }
        nonmutating set {
            // The old element is released after the lock.
            _ = write { Swift.exchange(&$0[index], with: newValue) }
        }
        nonmutating _modify { yield &wrappedValue[index] }
    }
}
