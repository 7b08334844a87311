//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("A `done` that is left over")
struct LeftOverDoneTests {
    /// The value uses the object behind `done` again, but only when no copy of `done` is left.
    @Test("A `done` that is left over from a command ends no later one")
    func endsNoLaterOne() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 0)
            let kept = Log<CommandCompletionClosure>()
            let first = value.wait.lowestPriority.set { number, done in
                number += 1
                kept.add(done)
                done()
            }
            // Its own `done` is dropped.
            let second = value.wait.lowestPriority.set { _, _ in kept.entries[0]() }
            let third = value.wait.lowestPriority.set { number, done in
                number += 1
                done()
            }
            return [first, second, third]
        }
        #expect(answers == [.success(1), .failure(.completionDropped), .success(2)])
    }
}
