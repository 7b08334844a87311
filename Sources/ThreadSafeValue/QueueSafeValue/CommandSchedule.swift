//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A schedule says where and how commands run. Choose a priority next.
public protocol CommandSchedule {
    /// The type of the commands that have this schedule and a priority.
    associatedtype Commands

    /// The commands with a given priority.
    ///
    /// - Parameter priority: How early a command gets its turn.
    /// - Returns: The commands, of which you call one.
    consuming func priority(_ priority: CommandPriority) -> Commands
}

extension CommandSchedule {
    /// The commands that go behind all others. They are no barrier: see <doc:TakingTurns>.
    public var lowestPriority: Commands { @inlinable @_transparent consuming get { priority(.lowest) } }

    /// The commands that go only before those of the lowest priority.
    public var lowPriority: Commands { @inlinable @_transparent consuming get { priority(.low) } }

    /// The commands that go before low and behind high ones.
    public var mediumPriority: Commands { @inlinable @_transparent consuming get { priority(.medium) } }

    /// The commands that go only behind those of the highest priority.
    public var highPriority: Commands { @inlinable @_transparent consuming get { priority(.high) } }

    /// The commands that go before all others.
    public var highestPriority: Commands { @inlinable @_transparent consuming get { priority(.highest) } }
}
