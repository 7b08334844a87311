//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Comparing protected values")
struct ComparingTests {
    @Test("Two values are equal when what they protect is")
    func equal() {
        #expect(Protected(1) == Protected(1))
        #expect(Protected(1) != Protected(2))
        #expect(Protected(["a"]) == Protected(["a"]))
    }

    @Test("A value compared with itself doesn't hang")
    func withItself() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let number = Protected(1)
            let copy = number
            precondition(number == copy)
            precondition(!(number != copy))
        }
    }

    @Test("A value compared with itself compares what it protects")
    func withItselfUnequal() {
        let number = Protected(Double.nan)
        let copy = number
        #expect(number != copy)
    }

    @Test("a == b on one thread and b == a on another don't hang")
    func bothWays() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (first, second) = (Protected(1), Protected(1))
            onThreads(4) { index in
                for _ in 0..<20_000 {
                    precondition(index.isMultiple(of: 2) ? first == second : second == first)
                }
            }
        }
    }

    @Test("Three values compared in a circle don't hang")
    func inCircle() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let values = [Protected(1), Protected(1), Protected(1)]
            onThreads(3) { index in
                for _ in 0..<20_000 {
                    precondition(values[index] == values[(index + 1) % 3])
                }
            }
        }
    }

    @Test("Both values are taken at one and the same moment")
    func oneMoment() {
        // The first is always as far as the second or one step ahead; `Step` is "equal" to itself only then.
        let (first, second) = (Protected(Step(count: 0)), Protected(Step(count: 0)))
        onThreads(2) { index in
            for _ in 0..<20_000 {
                if index == 0 {
                    first.count += 1
                    second.count += 1
                } else {
                    #expect(first == second)
                }
            }
        }
    }

    @Test("The values are compared and hashed outside the locks, so == and hash(into:) may use them")
    func comparesOutside() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let copy = Inquisitive.shared
            precondition(Inquisitive.shared == copy)
            precondition(Inquisitive.shared == Protected(Inquisitive()))
            precondition(Set([Inquisitive.shared]).contains(copy))
        }
    }

    @Test("Equal values have equal hashes, so a set finds them")
    func hashes() {
        let numbers: Set = [Protected(1), Protected(2), Protected(1)]
        #expect(numbers.count == 2)
        #expect(numbers.contains(Protected(2)))
        #expect(!numbers.contains(Protected(3)))
        #expect([Protected("key"): 5][Protected("key")] == 5)
    }

    @Test("Random comparisons agree with comparing plain values")
    func randomly() {
        var random = SeededRandom()
        for _ in 0..<1_000 {
            let plain = (0..<4).map { _ in Int.random(in: 0...2, using: &random) }
            let values = plain.map { Protected($0) }
            for (left, right) in zip(plain.indices, plain.indices.shuffled(using: &random)) {
                let areEqual = plain[left] == plain[right]
                #expect((values[left] == values[right]) == areEqual, "TEST_SEED=\(random.seed)")
            }
            #expect(Set(values).count == Set(plain).count, "TEST_SEED=\(random.seed)")
        }
    }
}

private struct Step: Equatable {
    var count: Int

    static func == (lhs: Step, rhs: Step) -> Bool {
        (0...1).contains(lhs.count - rhs.count)
    }
}

/// Looks at the protected value while it is compared or hashed.
private struct Inquisitive: Hashable {
    static let shared = Protected(Inquisitive())

    var number = 1

    static func == (lhs: Inquisitive, rhs: Inquisitive) -> Bool {
        lhs.number == shared.number && rhs.number == shared.number
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(Inquisitive.shared.number)
    }
}
