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
