//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Where and how commands run; the choice of their priority is next.
public protocol CommandSchedule {
    /// The commands of this schedule, once they have a priority.
    associatedtype Commands

    /// Commands of a given priority.
    ///
    /// - Parameter priority: How early they get their turn.
    /// - Returns: The commands, to call one of them.
    consuming func priority(_ priority: CommandPriority) -> Commands
}

extension CommandSchedule {
    /// Commands that go behind all others. Not a barrier: see <doc:TakingTurns>.
    public var lowestPriority: Commands { @inlinable @_transparent consuming get { priority(.lowest) } }

    /// Commands that go before those of lowest priority only.
    public var lowPriority: Commands { @inlinable @_transparent consuming get { priority(.low) } }

    /// Commands in the middle.
    public var mediumPriority: Commands { @inlinable @_transparent consuming get { priority(.medium) } }

    /// Commands that go behind those of highest priority only.
    public var highPriority: Commands { @inlinable @_transparent consuming get { priority(.high) } }

    /// Commands that go before all others.
    public var highestPriority: Commands { @inlinable @_transparent consuming get { priority(.highest) } }
}
