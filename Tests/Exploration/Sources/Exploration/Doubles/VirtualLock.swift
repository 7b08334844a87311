//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of the lock: taking it is a step that is possible while nobody holds it.
///
/// Giving it back is none: nobody can notice that it happened earlier than it might have.
public final class PlatformLock: @unchecked Sendable {
    let storage: UnsafeMutablePointer<Storage>

    init() {
        unsafe storage = .allocate(capacity: 1)
        unsafe Storage.initialize(storage)
    }

    deinit {
        unsafe Storage.deinitialize(storage)
        unsafe storage.deallocate()
    }

    func around<Answer>(_ body: () -> Answer) -> Answer {
        unsafe Storage.lock(storage)
        defer { unsafe Storage.unlock(storage) }
        return body()
    }

    /// The lock itself.
    @safe
    public struct Storage {
        var holder: Int?
        // Stands for everything that the lock guards, which depends on what its last holder had seen and on nothing
        // else.
        var content: UInt64 = 0
        let id: UInt64
        // Of which execution `content` is: a global lock outlives them.
        var execution: Int
    }
}

/// Any lock will do.
typealias PthreadMutex = PlatformLock

extension PlatformLock.Storage {
    @usableFromInline
    static func initialize(_ storage: UnsafeMutablePointer<Self>) {
        unsafe storage.initialize(to: Self(holder: nil, id: world.newObject(), execution: world.execution))
    }

    @usableFromInline
    static func deinitialize(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe storage.pointee.holder != nil { world.fail("a lock goes away while it is held") }
        unsafe world.objectChanged(storage.pointee.id, from: storage.pointee.content, to: 0)
    }

    @usableFromInline
    static func lock(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe storage.pointee.holder == world.current.index { world.fail("a thread takes a lock twice") }
        if let graph = world.graph {
            if unsafe graph.isGuarded(by: storage) {
                world.current.rememberOnlyCommands()
            } else if graph.contains(TurnWord.currentThread) {
                // Others that wait for the lock would take it for a part of a circle.
                world.fail("a thread takes a lock while it is in the graph of waits")
            }
        }
        unsafe world.pass(.lock(storage))
        unsafe take(storage)
    }

    @usableFromInline
    static func tryLock(_ storage: UnsafeMutablePointer<Self>) -> Bool {
        world.pass(.run("tryLock", 0))
        let isFree = unsafe storage.pointee.holder == nil
        if isFree { unsafe take(storage) } else { world.current.observe(0) }
        return isFree
    }

    @usableFromInline
    static func unlock(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe storage.pointee.holder != world.current.index { world.fail("a thread gives back a lock it has not") }
        let content = unsafe contents(storage)
        unsafe world.objectChanged(storage.pointee.id, from: storage.pointee.content, to: content)
        unsafe storage.pointee.content = content
        unsafe storage.pointee.holder = nil
        world.current.observe(1)
    }

    /// One number for all that the lock guards. Where it is not known, what the thread has seen stands for that.
    private static func contents(_ storage: UnsafeMutablePointer<Self>) -> UInt64 {
        if let contents = unsafe world.graph?.contents(guardedBy: storage) { return contents }
        if let value = unsafe world.monitor.value(guardedBy: storage) { return world.monitor.givesLockBack(of: value) }
        return world.current.observed
    }

    private static func take(_ storage: UnsafeMutablePointer<Self>) {
        if unsafe storage.pointee.execution != world.execution {
            unsafe storage.pointee.execution = world.execution
            unsafe storage.pointee.content = 0
        }
        unsafe storage.pointee.holder = world.current.index
        unsafe world.current.observe(storage.pointee.content)
        if let value = unsafe world.monitor.value(guardedBy: storage) { world.monitor.takesLock(of: value) }
    }
}
