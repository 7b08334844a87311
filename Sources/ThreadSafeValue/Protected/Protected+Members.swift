//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected {
    /// A member of the value: read as a copy, replaced at once, or changed in place under the lock.
    ///
    /// Stored members are changed in place. A member with `didSet`, a wrapper or a setter of its own is copied out and
    /// put back under the lock, as the language has no other way to it, also when it is replaced: change it in a `write`
    /// closure.
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
            lock()
            unsafe Swift.swap(&place.pointee[keyPath: keyPath], &member)
            commit()
            // The old member goes away here, where its `deinit` may use the value; the new one too, if a setter drops
            // it.
            _fixLifetime(member)
            _fixLifetime(newValue)
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
    @inlinable
    @_disfavoredOverload
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member {
        @inline(__always)
        get {
            copy(keyPath)
        }
    }
}

// Without a key path: Swift 6.3 compiles one to an element of an `InlineArray` wrongly, so that it leads to other memory.
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
            lock()
            unsafe Swift.swap(&place.pointee[index], &element)
            commit()
            // The old element goes away here, where its `deinit` may use the value.
            _fixLifetime(element)
        }
        nonmutating _modify {
            lock()
            defer { commit() }
            yield unsafe &place.pointee[index]
        }
    }
}

extension Protected {
    /// A copy of a member, which goes away after the lock was given back, also if nobody uses it. What a longer key
    /// path makes on its way there goes away before.
    ///
    /// Inlined with its callers, so that the key path meets its value in the code that names the member, where the
    /// compiler turns it into a plain load. As a call with a key path it copies the whole value, and takes five times
    /// as long. The price: generic code of another module that is not `@inlinable` is not specialised any more.
    @inlinable
    @_transparent
    func copy<Member>(_ keyPath: KeyPath<Value, Member>) -> Member {
        lock()
        let member = unsafe place.pointee[keyPath: keyPath]
        unlock()
        _fixLifetime(member)
        return member
    }
}
