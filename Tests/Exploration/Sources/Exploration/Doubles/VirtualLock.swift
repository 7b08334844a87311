//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of the locks: taking one is a step that is possible while nobody holds it.
///
/// Giving it back is none: nobody can notice that it happened earlier than it might have.
public final class PlatformLock: @unchecked Sendable {
    private(set) var holder: VirtualThread?
    // Stands for everything that the lock guards, which depends on what its last holder had seen and on nothing else.
    private var content: UInt64 = 0
    private let id = world.newObject()
    // Of which execution this is: a global lock outlives them.
    private var execution = world.execution

    init() {}

    deinit {
        if holder != nil { world.fail("a lock goes away while it is held") }
        if execution == world.execution { world.objectChanged(id, from: content, to: 0) }
    }
}

typealias PthreadMutex = PlatformLock

extension PlatformLock {
    func lock() {
        let thread = world.current
        if holder === thread { world.fail("a thread takes a lock twice") }
        let value = world.monitor.value(guardedBy: self)
        let isGraph = self === WaitGraph.shared.mutex
        if isGraph { thread.rememberOnlyCommands() }
        if value == nil, !isGraph, WaitGraph.shared.waits[thread.identity] != nil {
            // Others that wait for the lock would take it for a part of a circle.
            world.fail("a thread takes a lock while it is in the graph of waits")
        }
        world.pass(.lock(self))
        if execution != world.execution { (execution, content) = (world.execution, 0) }
        holder = thread
        thread.lockCount += 1
        thread.observe(content)
        world.memory.acquire(id)
        if let value { world.monitor.lockTaken(of: value) }
    }

    func lockForMoment() { lock() }

    func unlock() {
        let thread = world.current
        if holder !== thread { world.fail("a thread gives back a lock it has not") }
        let new =
            if self === WaitGraph.shared.mutex {
                WaitGraph.shared.contents
            } else if let value = world.monitor.value(guardedBy: self) {
                world.monitor.lockGoes(of: value)
            } else {
                world.lockContents(self) ?? thread.observed
            }
        world.objectChanged(id, from: content, to: new)
        content = new
        world.memory.release(id)
        holder = nil
        thread.lockCount -= 1
    }

    func around<Answer>(_ body: () -> Answer) -> Answer {
        lock()
        defer { unlock() }
        return body()
    }
}

extension WaitGraph {
    fileprivate var contents: UInt64 {
        waits.reduce(0) { unsafe $0 &+ mix($1.key, $1.value.word.storage.pointee.id) }
    }
}

/// The double of a reference that each thread has for itself.
struct ThreadLocal<Object: AnyObject>: Sendable {
    var object: Object? {
        get { world.current.locals[ObjectIdentifier(Object.self)] as! Object? }
        nonmutating set { world.current.locals[ObjectIdentifier(Object.self)] = newValue }
    }
}
