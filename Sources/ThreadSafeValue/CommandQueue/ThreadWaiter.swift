//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#else
#error("ThreadSafeValue needs the threads of the system.")
#endif

/// The command with which each thread waits. A thread stands in one line at a time, so it has one for its life, and to
/// wait allocates nothing.
enum ThreadWaiter {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key) { waiter in
            let waiter: UnsafeMutableRawPointer? = unsafe waiter
            if let waiter = unsafe waiter { unsafe Unmanaged<PendingCommand>.fromOpaque(waiter).release() }
        }
        check(code, "pthread_key_create")
        return key
    }()

    private static let blockKey = keyOfObject()

    private static let bodyKey = keyOfObject()

    /// The lane whose block the calling thread runs, which keeps it. Not in the command: most threads that run blocks
    /// never wait.
    static var block: Lane? {
        get { object(of: blockKey) }
        set { setObject(newValue, of: blockKey) }
    }

    /// The async body whose task awaits the closure that the calling thread runs, which keeps it.
    static var body: TaskBody? {
        get { object(of: bodyKey) }
        set { setObject(newValue, of: bodyKey) }
    }

    private static func keyOfObject() -> pthread_key_t {
        var key = pthread_key_t()
        unsafe check(pthread_key_create(&key, nil), "pthread_key_create")
        return key
    }

    private static func object<Object: AnyObject>(of key: pthread_key_t) -> Object? {
        guard let object = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<Object>.fromOpaque(object).takeUnretainedValue()
    }

    private static func setObject<Object: AnyObject>(_ object: Object?, of key: pthread_key_t) {
        let object = unsafe object.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
        unsafe check(pthread_setspecific(key, object), "pthread_setspecific")
    }

    /// The command of the calling thread, if that has ever waited.
    static var known: PendingCommand? { object(of: key) }

    /// The command of the calling thread.
    static var current: PendingCommand {
        if let known { return known }
        // All that a wait needs is made now.
        _ = WaitGraph.shared
        let waiter = PendingCommand(of: Parker())
        unsafe check(pthread_setspecific(key, Unmanaged.passRetained(waiter).toOpaque()), "pthread_setspecific")
        return waiter
    }

    private static func check(_ code: CInt, _ call: StaticString) {
        if code != 0 { fatalError("ThreadSafeValue: \(call) failed with code \(code)") }
    }
}
