//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Until when newcomers may pass the first in line, if that has their priority. A pure value in one word.
///
/// The priority is part of it, as a newcomer reads the turn word and the bound one after the other: the bound of a better
/// command that came and went between the two says nothing about who waits now.
package struct PassingBound {
    let bits: UInt64

    /// Nobody may pass.
    package static var never: PassingBound { PassingBound(bits: 0) }

    /// Nobody has passed yet: the first who does sets the bound.
    static func unset(_ priority: CommandPriority) -> PassingBound {
        PassingBound(priority, until: .max)
    }

    /// - Parameters:
    ///   - priority: of the first in line.
    ///   - time: from when on its equals may not pass it, in nanoseconds of `now()`.
    init(_ priority: CommandPriority, until time: UInt64) {
        bits = time << 3 | priority.level
    }

    init(bits: UInt64) {
        self.bits = bits
    }

    var isUnset: Bool { time == .max >> 3 }

    var level: Int { Int(bits & 0b111) }

    var time: UInt64 { bits >> 3 }

    /// Whether newcomers of a priority may pass at any time.
    func isOf(_ priority: CommandPriority) -> Bool { level == priority.level }

    /// Whether a newcomer of a priority may pass at a time.
    package func allows(_ priority: CommandPriority, at time: UInt64) -> Bool {
        isOf(priority) && time < self.time
    }
}
