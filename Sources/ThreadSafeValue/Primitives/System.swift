//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
#error("ThreadSafeValue needs the threads of the system.")
#endif

// All that the library asks of the C library of the system, but for the locks.

/// An object that each thread has for itself, and keeps until it sets another one or ends.
package struct ThreadLocal<Object: AnyObject>: Sendable {
    private let key: pthread_key_t

    package init() {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key) { object in
            let object: UnsafeMutableRawPointer? = unsafe object
            if let object = unsafe object { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
        }
        check(code, "pthread_key_create")
        self.key = key
    }

    /// The object of the calling thread.
    package var object: Object? {
        get {
            guard let object = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<Object>.fromOpaque(object).takeUnretainedValue()
        }
        nonmutating set {
            let (old, new) = unsafe (pthread_getspecific(key), newValue.map { unsafe Unmanaged.passRetained($0) })
            unsafe check(pthread_setspecific(key, new?.toOpaque()), "pthread_setspecific")
            if let old = unsafe old { unsafe Unmanaged<Object>.fromOpaque(old).release() }
        }
    }
}

extension LibraryTimer {
    /// Starts the thread of the timers.
    static func startThread() {
        #if canImport(Darwin) || canImport(Musl)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        unsafe check(pthread_create(&thread, nil, { _ in LibraryTimer.runThread() }, nil), "pthread_create")
    }

    private static func runThread() -> Never {
        #if canImport(Darwin)
        pthread_set_qos_class_self_np(QOS_CLASS_USER_INITIATED, 0)
        #endif
        callForEver()
    }
}

/// Writes a line to standard error, in one call, so that lines of several threads do not mix.
package func writeToStandardError(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

private func check(_ code: CInt, _ call: StaticString) {
    if code != 0 { fatalError("ThreadSafeValue: \(call) failed with code \(code)") }
}
