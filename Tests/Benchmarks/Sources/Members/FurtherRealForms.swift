//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Boxes
import Synchronization
import ThreadSafeValue

// More forms that code bases have, each beside its peer.

// MARK: Two queue-safe values at once

package final class TwoTurns: Changing {
    private let first = QueueSafeValue(value: 0)
    private let second = QueueSafeValue(value: 0)

    package init() {}

    @inline(never)
    package func change() {
        withLocked(first, second) { first, second in
            first &+= 1
            second &-= 1
        }
    }

    package var total: Int { withLocked(first, second) { first, _ in first }.successOrZero }
}

package final class TwoMutexes: Changing {
    private let first = Mutex(0)
    private let second = Mutex(0)

    package init() {}

    @inline(never)
    package func change() {
        first.withLock { first in
            second.withLock { second in
                first &+= 1
                second &-= 1
            }
        }
    }

    package var total: Int { first.withLock { $0 } }
}

extension Result where Success == Int {
    fileprivate var successOrZero: Int { (try? get()) ?? 0 }
}

// MARK: A member of a large structure

/// The state of a connection, say.
struct Session: Sendable {
    var names = ["a", "b"]
    var headers = ["Accept": "*/*"]
    var path = "/some/path/that/is/not/stored/inline"
    var body = [UInt8](repeating: 0, count: 64)
    var cookies: [String: String] = [:]
    var trailers: [String: String] = [:]
    var sizes = (1, 2, 3, 4, 5, 6, 7, 0)
    var isClosed = false
}

package final class ProtectedSession: Reading {
    private let session = Protected(Session())

    package init() {}

    @inline(never)
    package func read() -> Int {
        session.read { $0.isClosed ? 1 : $0.sizes.7 }
    }
}

package final class MutexSession: Changing, Reading {
    private let session = Mutex(Session())

    package init() {}

    @inline(never)
    package func read() -> Int {
        session.withLock { $0.isClosed ? 1 : $0.sizes.7 }
    }

    @inline(never)
    package func change() {
        session.withLock { $0.sizes.7 &+= 1 }
    }

    package var total: Int { session.withLock(\.sizes.7) }
}

package final class SetSession: Changing {
    private let session = QueueSafeValue(value: Session())

    package init() {}

    @inline(never)
    package func change() {
        session.wait.highestPriority.set { $0.sizes.7 &+= 1 }
    }

    package var total: Int { session.wait.highestPriority.map(\.sizes.7).successOrZero }
}

package final class UpdateSession: Changing {
    private let session = QueueSafeValue(value: Session())

    package init() {}

    @inline(never)
    package func change() {
        session.wait.highestPriority.update { $0.sizes.7 &+= 1 }
    }

    package var total: Int { session.wait.highestPriority.map(\.sizes.7).successOrZero }
}

// MARK: The members of a list in a generic class of another module

package final class GenericProtectedList: Reading {
    private let list = ProtectedList([1, 2, 3])

    package init() {}

    @inline(never)
    package func read() -> Int { list.count }
}

package final class GenericMutexList: Reading {
    private let list = MutexList([1, 2, 3])

    package init() {}

    @inline(never)
    package func read() -> Int { list.count }
}

// MARK: A value with a listener

/// A queue-safe value that somebody listens to.
package final class ListenedTurns: Changing {
    private let value = QueueSafeValue(value: 0)
    private let changes: ValueChanges<Int>

    package init() { changes = value.changes() }

    @inline(never)
    package func change() {
        value.wait.highestPriority.set { $0 &+= 1 }
    }

    package var total: Int { value.wait.highestPriority.get().successOrZero }
}
