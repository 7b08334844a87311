//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Random numbers that can be had again: the seed is printed, and `TEST_SEED` in the environment sets it.
struct SeededRandom: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(for test: String = #function) {
        let given = ProcessInfo.processInfo.environment["TEST_SEED"].flatMap { UInt64($0) }
        seed = given ?? .random(in: 0 ... .max)
        state = seed
        print("\(test): TEST_SEED=\(seed)")
    }

    /// Numbers that follow from other ones, and need not be printed.
    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    // splitmix64: every seed is good, and one word of state is enough.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
