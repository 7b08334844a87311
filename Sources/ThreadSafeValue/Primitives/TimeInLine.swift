//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How long a thread stands in a line to which it comes again and again: exactly for the last time, and on average
/// before.
///
/// The blocks of its queue cannot start meanwhile, and are not late by that. One time is not enough: a main thread may
/// stand in line for 5 ms again and again before it comes to a block, and for some microseconds at last.
package struct TimeInLine {
    /// The line.
    package let line: UInt
    private let firstArrival: UInt64
    private var latestArrival: UInt64
    private var latestLeaving: UInt64

    // Nanoseconds since the first arrival; those that are long ago count for less and less.
    private var inLine: UInt64 = 0
    private var altogether: UInt64 = 0

    /// - Parameters:
    ///   - line: A line.
    ///   - arrival: When the thread comes there first, in nanoseconds of `now()`.
    package init(line: UInt, arrival: UInt64) {
        self.line = line
        firstArrival = arrival
        latestArrival = arrival
        latestLeaving = arrival
    }

    /// The thread leaves the line.
    ///
    /// - Parameters:
    ///   - arrival: When it came there.
    ///   - time: When it leaves.
    package mutating func add(from arrival: UInt64, to time: UInt64) {
        // Arrivals are kept apart by some nanoseconds, and may be later than the clock.
        let leaving = max(time, arrival, latestLeaving)
        inLine += leaving - arrival
        altogether += leaving - latestLeaving
        if altogether > Self.memory { (inLine, altogether) = (inLine / 2, altogether / 2) }
        (latestArrival, latestLeaving) = (arrival, leaving)
    }

    /// For how long it has stood there since a time, in nanoseconds.
    package func nanoseconds(since start: UInt64) -> UInt64 {
        if latestLeaving <= start { return 0 }
        let begin = max(start, firstArrival)
        if begin >= latestArrival { return latestLeaving - begin }
        let share = Double(inLine) / Double(altogether)
        return latestLeaving - latestArrival + UInt64(Double(latestArrival - begin) * share)
    }

    /// About how much time counts.
    private static let memory: UInt64 = 250_000_000
}
