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

/// A reference that each thread has for itself.
struct ThreadLocal<Object: AnyObject>: Sendable {
    private let key: pthread_key_t

    private let keeps: Bool

    /// - Parameter keeps: Whether the object, which is set once, is kept until the thread ends. Otherwise it is not
    ///   kept.
    init(keeps: Bool = false) {
        self.keeps = keeps
        var key = pthread_key_t()
        let code =
            if keeps {
                unsafe pthread_key_create(&key) { object in
                    let object: UnsafeMutableRawPointer? = unsafe object
                    if let object = unsafe object { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
                }
            } else {
                unsafe pthread_key_create(&key, nil)
            }
        Self.check(code, "pthread_key_create")
        self.key = key
    }

    /// The object of the calling thread.
    var object: Object? {
        get {
            guard let object = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<Object>.fromOpaque(object).takeUnretainedValue()
        }
        nonmutating set {
            let object = unsafe newValue.map { object in
                let reference = unsafe keeps ? Unmanaged.passRetained(object) : Unmanaged.passUnretained(object)
                return unsafe reference.toOpaque()
            }
            unsafe Self.check(pthread_setspecific(key, object), "pthread_setspecific")
        }
    }

    private static func check(_ code: CInt, _ call: StaticString) {
        if code != 0 { fatalError("ThreadSafeValue: \(call) failed with code \(code)") }
    }
}
