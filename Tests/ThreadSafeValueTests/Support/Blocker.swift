//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

/// A command that has the turn of a value, and no thread, until it is told to end.
///
/// Whatever is submitted meanwhile stands in line.
final class Blocker: Sendable {
    private let done = Log<CommandCompletionClosure>()

    init<Value: Sendable>(_ value: QueueSafeValue<Value>) {
        Mistakes.keepQuiet()
        let started = Door()
        value.async(performIn: DispatchQueue(label: "blocker")).highestPriority.get { [done] _, complete in
            done.add(complete)
            started.open()
        }
        started.waitUntilOpen()
    }

    func end() {
        done.entries[0]()
    }
}

extension HandoffPolicy {
    /// No bound passes during a test: order is pure order.
    static var unbounded: HandoffPolicy {
        var policy = HandoffPolicy()
        policy.barging = 0
        policy.keeping = 600_000_000_000
        policy.keepingLimit = 600_000_000_000
        return policy
    }
}
