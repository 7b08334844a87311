//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("ArrivalList")
struct ArrivalListTests {
    @Test("It keeps the order in which elements came, whichever leave, as a plain list does")
    func order() {
        var random = SeededRandom()
        var list = ArrivalList<Guest>()
        var model: [Guest] = []
        var gone: [Guest] = []
        for step in 0..<rounds(6_000) {
            // It fills up for a while, then it becomes empty.
            if Int.random(in: 0..<4, using: &random) < (step % 2_000 < 1_000 ? 3 : 1) {
                model.append(Guest())
                list.append(model.last!)
            } else if let index = model.indices.randomElement(using: &random) {
                gone.append(model.remove(at: index))
                list.remove(gone.last!)
            }
            if step % 500 == 499, Bool.random(using: &random) {
                for case let guest? in list.elements { list.remove(guest) }
                gone += model
                model = []
            }
            // One that has left already changes nothing.
            if let guest = gone.randomElement(using: &random) { list.remove(guest) }
            #expect(list.elements.compactMap { $0 }.elementsEqual(model, by: ===), "TEST_SEED=\(random.seed)")
            #expect(list.isEmpty == model.isEmpty, "TEST_SEED=\(random.seed)")
            #expect(list.elements.count <= 2 * model.count + 8, "TEST_SEED=\(random.seed)")
        }
    }
}

private final class Guest: Placed {
    var place: Int?
}
