//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("IndexedHeap")
struct IndexedHeapTests {
    @Test("Its first element is the first of a sorted array, whichever come and leave")
    func order() {
        var random = SeededRandom()
        var heap = IndexedHeap<Guest>()
        var model: [Guest] = []
        var gone: [Guest] = []
        for step in 0..<6_000 {
            // It fills up for a while, then it becomes empty. Some guests have the same rank.
            if Int.random(in: 0..<4, using: &random) < (step % 2_000 < 1_000 ? 3 : 1) {
                let guest = Guest(rank: .random(in: 0..<500, using: &random))
                model.insert(guest, at: model.firstIndex { guest.precedes($0) } ?? model.endIndex)
                heap.insert(guest)
            } else if let anyone = model.randomElement(using: &random) {
                let guest = Bool.random(using: &random) ? heap.elements[0] : anyone
                model.removeAll { $0 === guest }
                gone.append(guest)
                heap.remove(guest)
            }
            // One that has left already changes nothing.
            if let guest = gone.randomElement(using: &random) { heap.remove(guest) }
            #expect(heap.elements.first?.rank == model.first?.rank, "TEST_SEED=\(random.seed)")
            #expect(heap.elements.count == model.count, "TEST_SEED=\(random.seed)")
        }
        var ranks: [Int] = []
        while let first = heap.elements.first {
            ranks.append(first.rank)
            heap.remove(first)
        }
        #expect(ranks == model.map(\.rank), "TEST_SEED=\(random.seed)")
        #expect((gone + model).allSatisfy { $0.place == nil }, "TEST_SEED=\(random.seed)")
    }
}

private final class Guest: Ordered {
    let rank: Int
    var place: Int?

    init(rank: Int) {
        self.rank = rank
    }

    func precedes(_ other: Guest) -> Bool { rank < other.rank }
}
