//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("BoundedFIFO")
struct BoundedFIFOTests {
    @Test("It keeps the newest in order, as a plain list does", arguments: [1, 2, 3, 7, 300, 1_000, .max])
    func keepsNewest(capacity: Int) {
        var random = SeededRandom()
        var buffer = BoundedFIFO<Int>(capacity: capacity)
        var model = [Int]()
        for count in 0..<6_000 {
            // It fills up for a while, then it becomes empty.
            if Int.random(in: 0..<4, using: &random) < (count % 2_000 < 1_000 ? 3 : 1) {
                model.append(count)
                let expected = model.count > capacity ? model.removeFirst() : nil
                let pushedOut = buffer.put(count)
                #expect(pushedOut == expected, "TEST_SEED=\(random.seed)")
            } else {
                let oldest = buffer.take()
                #expect(oldest == (model.isEmpty ? nil : model.removeFirst()), "TEST_SEED=\(random.seed)")
            }
            let isEmpty = buffer.isEmpty
            #expect(isEmpty == model.isEmpty, "TEST_SEED=\(random.seed)")
        }
    }

    @Test("What it keeps goes away with it, and what was taken or pushed out doesn't", arguments: [0, 3, 5, 700])
    func leavesNothing(taken: Int) {
        let tally = Counted.Tally()
        do {
            var buffer = BoundedFIFO<Counted>(capacity: 1_000)
            for id in 0..<1_500 { _ = buffer.put(Counted(id, tally: tally)) }
            #expect(tally.alive == 1_000)
            for index in 0..<taken {
                let id = buffer.take()?.id
                #expect(id == 500 + index)
            }
            #expect(tally.alive == 1_000 - taken)
        }
        #expect(tally.alive == 0)
    }
}
