//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Protected: copies of the handle share the value")
struct ProtectedHandleTests {
    @Test("Copies of the handle share the value")
    func shares() {
        let number = Protected(1)
        let copy = number
        copy.wrappedValue += 1
        #expect(number.wrappedValue == 2)
        let projected = number.projectedValue
        projected.wrappedValue += 1
        #expect(number.wrappedValue == 3)
        #expect(copy.wrappedValue == 3)
    }

    @Test("The value goes away with the last handle, and a replaced one at once")
    func leaksNothing() {
        let tally = Counted.Tally()
        do {
            let first = Protected(Counted(1, tally: tally))
            let second = first
            #expect(tally.alive == 1)
            second.wrappedValue = Counted(2, tally: tally)
            #expect(tally.alive == 1)
            second.wrappedValue = Counted(3, tally: tally)
            #expect(tally.alive == 1)
            second.write { $0 = Counted(4, tally: tally) }
            #expect(first.read { $0.id } == 4)
            #expect(tally.alive == 1)
        }
        #expect(tally.alive == 0)
    }

    @Test("Many threads that replace and read objects leak none")
    func leaksNothingUnderContention() {
        let tally = Counted.Tally()
        do {
            let objects = Protected([Counted(tally: tally)])
            onThreads(4) { index in
                for turn in 0..<1_000 {
                    switch (index + turn) % 4 {
                    case 0: objects.append(Counted(turn, tally: tally))
                    case 1: objects.wrappedValue = [Counted(turn, tally: tally)]
                    case 2: objects.wrappedValue = objects.wrappedValue.suffix(3)
                    default: _ = objects.read { $0.last }
                    }
                }
            }
            #expect(tally.alive == objects.count)
        }
        #expect(tally.alive == 0)
    }

    @Test("A handle that is last used by the access itself stays alive until the access is over")
    func lastUse() {
        let tally = Counted.Tally()
        for id in 0..<1_000 {
            let object = Protected(Counted(id, tally: tally))
            #expect(object.write { $0.id } == id)
        }
        #expect(Protected(5).write { $0 + 1 } == 6)
        #expect(Protected([1, 2]).count == 2)
        #expect(tally.alive == 0)
    }

    @Test("Values of any size and alignment are kept whole")
    func sizes() {
        Protected(()).write { $0 = () }
        #expect(Protected(UInt8(7)).wrappedValue == 7)
        #expect(Protected(SIMD16<Double>(repeating: 2)).wrappedValue.sum() == 32)
        let tuple = Protected((UInt8(1), "two", SIMD4<Float>(repeating: 3), Int?.none))
        tuple.write { $0.3 = 4 }
        #expect(tuple.read { $0.0 == 1 && $0.1 == "two" && $0.2.sum() == 12 && $0.3 == 4 })
    }
}
