//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected {
    /// A member of the value: read as a copy, replaced at once, or changed in place under the lock.
    ///
    /// Stored members are changed in place. A member with `didSet`, a wrapper or a setter of its own is copied out and
    /// put back under the lock, also when it is replaced: change it in a `write` closure.
    ///
    /// - Parameter keyPath: Which member.
    @inlinable
    public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Value, Member>) -> Member {
        @inline(__always)
        get {
            copy(keyPath)
        }
        @inline(__always)
        nonmutating set {
            var member = newValue
            write { swap(&$0[keyPath: keyPath], &member) }
            // The old member goes away here, where its `deinit` may use the value; the new one too, if a setter drops
            // it.
            withExtendedLifetime((member, newValue)) {}
        }
        nonmutating _modify {
            lock()
            defer { commit() }
            yield unsafe &place.pointee[keyPath: keyPath]
        }
    }

    // Disfavored, so that the compiler has one member to speak of where the code behind it is wrong.
    /// A member of the value that can only be read.
    ///
    /// - Parameter keyPath: Which member.
    @inlinable @_disfavoredOverload
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member {
        @inline(__always)
        get {
            copy(keyPath)
        }
    }
}

// Without a key path: Swift 6.3 compiles one to an element of an `InlineArray` wrongly, so that it leads to other
// memory.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension Protected {
    /// An element of the value: read as a copy, replaced at once, or changed in place under the lock.
    ///
    /// - Parameter index: Which element; the program crashes if there is none.
    @inlinable
    public subscript<let count: Int, Element>(index: Int) -> Element where Value == InlineArray<count, Element> {
        get {
            read { $0[index] }
        }
        nonmutating set {
            var element = newValue
            write { swap(&$0[index], &element) }
            // The old element goes away here, where its `deinit` may use the value.
            withExtendedLifetime(element) {}
        }
        nonmutating _modify {
            lock()
            defer { commit() }
            yield unsafe &place.pointee[index]
        }
    }
}

extension Protected {
    /// A copy of a member, which goes away after the lock was given back, also if nobody uses it. Values on the way of
    /// a longer key path go away before.
    ///
    /// Transparent, as are its callers: in the code that names the member, the compiler turns the key path into a plain
    /// load. As a call it copies the whole value, and takes nine times as long.
    @inlinable @_transparent
    func copy<Member>(_ keyPath: KeyPath<Value, Member>) -> Member {
        lock()
        let member = unsafe place.pointee[keyPath: keyPath]
        unlock()
        withExtendedLifetime(member) {}
        return member
    }
}
