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
    func priority(_ priority: CommandPriority) -> Commands
}

extension CommandSchedule {
    /// Commands that go behind all others. Not a barrier: see <doc:TakingTurns>.
    @inlinable
    public var lowestPriority: Commands { priority(.lowest) }

    /// Commands that go before those of lowest priority only.
    @inlinable
    public var lowPriority: Commands { priority(.low) }

    /// Commands in the middle.
    @inlinable
    public var mediumPriority: Commands { priority(.medium) }

    /// Commands that go behind those of highest priority only.
    @inlinable
    public var highPriority: Commands { priority(.high) }

    /// Commands that go before all others.
    @inlinable
    public var highestPriority: Commands { priority(.highest) }
}
