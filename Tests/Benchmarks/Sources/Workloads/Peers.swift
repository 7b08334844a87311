//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Synchronization

// What people use instead, in the form that they use it.

/// The standard library's mutex, where several closures can reach it.
final class MutexBox: Sendable {
    let value = Mutex(0)
}

/// A value behind an `NSLock`.
final class NSLockBox<Value>: @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Answer>(_ body: (inout Value) -> Answer) -> Answer {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}

/// A value that is used on a serial queue only.
final class QueueBox: @unchecked Sendable {
    let queue = DispatchQueue(label: "QueueBox")
    // Touched on `queue` only.
    var value = 0
}

actor ActorBox {
    private(set) var value = 0

    func add() {
        value &+= 1
    }
}

/// Runs a task for a thread, which waits for it.
func wait(in setting: Setting, for body: @escaping @Sendable () async -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task {
        setting.placeWorker()
        await body()
        end.signal()
    }
    end.wait()
}
