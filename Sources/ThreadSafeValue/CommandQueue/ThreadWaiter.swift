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

    private static let blockKey: pthread_key_t = {
        var key = pthread_key_t()
        unsafe check(pthread_key_create(&key, nil), "pthread_key_create")
        return key
    }()

    /// The lane whose block the calling thread runs, which keeps it. Not in the command: most threads that run blocks
    /// never wait.
    static var block: Lane? {
        get {
            guard let lane = unsafe pthread_getspecific(blockKey) else { return nil }
            return unsafe Unmanaged<Lane>.fromOpaque(lane).takeUnretainedValue()
        }
        set {
            let lane = unsafe newValue.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
            unsafe check(pthread_setspecific(blockKey, lane), "pthread_setspecific")
        }
    }

    /// The command of the calling thread, if that has ever waited.
    static var known: PendingCommand? {
        guard let waiter = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<PendingCommand>.fromOpaque(waiter).takeUnretainedValue()
    }

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
