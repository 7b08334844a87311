//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Exchanging protected values")
struct ExchangeTests {
    @Test("An exchange returns the value before, and loses none")
    func exchange() {
        let number = Protected(0)
        #expect(number.exchange(5) == 0)
        let taken = Protected([Int]())
        onThreads(4) { index in
            var own = [Int]()
            for count in 0..<2_000 { own.append(number.exchange(10 + index * 2_000 + count)) }
            taken.append(contentsOf: own)
        }
        taken.append(number.wrappedValue)
        #expect(taken.wrappedValue.sorted() == [5] + Array(10..<8_010))
    }

    @Test("An old value goes away when all locks are free, and may use every value")
    func oldValue() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            Self.replaceOld(amongst: 2)
            Self.replaceOld(amongst: 3)
        }
    }

    private static func replaceOld(amongst count: Int) {
        let (number, text) = (Protected(1), Protected(""))
        let last = Protected<Last?>(nil)
        let seen = Log<Int>()
        // Its mailbox has the value before, until the next one comes.
        let changes = last.changes()
        for _ in 0..<4 {
            let next = Last { seen.add(number.wrappedValue + text.wrappedValue.count) }
            switch count {
            case 2: withLocked(last, number) { last, _ in last = next }
            default: withLocked(last, number, text) { last, _, _ in last = next }
            }
        }
        withExtendedLifetime(changes) { precondition(seen.entries == [1, 1, 1]) }
    }
}
