//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// A thread that has the turn of a value until it is told to end. When that returns, it has given it back.
struct HoldingThread {
    private let isOver: Door
    private let thread: RunningThread

    init(_ value: QueueSafeValue<Int>, _ priority: CommandPriority = .lowest) {
        let (begin, isOver) = (Door(), Door())
        self.isOver = isOver
        thread = RunningThread {
            value.wait.priority(priority).get { _ in
                begin.open()
                isOver.waitUntilOpen()
            }
        }
        begin.waitUntilOpen()
    }

    func end() {
        isOver.open()
        thread.join()
    }
}
