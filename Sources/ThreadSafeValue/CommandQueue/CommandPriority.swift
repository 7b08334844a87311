//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How early a command gets its turn: it goes before every waiting command of a lower priority.
///
/// Priority is data: a command queue only compares it. The line is as fast with five levels as with two.
@frozen public enum CommandPriority: UInt64, CaseIterable, Sendable {
    // Not 0, which is "nothing in line" in the turn word.
    /// Behind all others.
    case lowest = 1
    /// Before the lowest only.
    case low
    /// In the middle.
    case medium
    /// Behind the highest only.
    case high
    /// Before all others.
    case highest
}

extension CommandPriority: Comparable {
    /// Whether `left` goes behind `right`.
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
