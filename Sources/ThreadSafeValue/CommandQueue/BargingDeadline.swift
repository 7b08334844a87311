//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Until when newcomers may barge past the front, if that has their priority. A pure value in one word.
///
/// It is fixed by the arrival of the front and the number of threads that wait. The priority is part of it, as a newcomer reads the turn word and the deadline
/// one after the other: the deadline of a more urgent front that came and went between says nothing about the one
/// there now.
package struct BargingDeadline: Equatable {
    let bits: UInt64

    init(bits: UInt64) {
        self.bits = bits
    }

    /// - Parameters:
    ///   - priority: Of the front.
    ///   - time: From when on its equals may not barge, in nanoseconds of `now()`.
    init(_ priority: CommandPriority, until time: UInt64) {
        bits = time << 3 | priority.level
    }

    /// Nobody may barge.
    package static var none: BargingDeadline { BargingDeadline(bits: 0) }

    /// Whether newcomers of a priority may barge past their equals at any time.
    func isOf(_ priority: CommandPriority) -> Bool { bits & 0b111 == priority.level }

    /// Whether a newcomer of a priority may barge past its equals at a time.
    package func allows(_ priority: CommandPriority, at time: UInt64) -> Bool {
        isOf(priority) && time < bits >> 3
    }
}
