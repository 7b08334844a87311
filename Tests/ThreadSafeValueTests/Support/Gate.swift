//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// A door for tasks.
final class Gate: Sendable {
    private let waiting = Protected<(isOpen: Bool, tasks: [CheckedContinuation<Void, Never>])>((false, []))

    func open() {
        let tasks = waiting.write { waiting in
            defer { waiting.tasks = [] }
            waiting.isOpen = true
            return waiting.tasks
        }
        for task in tasks { task.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.write { waiting in
                if !waiting.isOpen { waiting.tasks.append(continuation) }
                return waiting.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
