//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// A command may change its priority while it waits. A block that has looked goes by what it saw, so the monitor keeps all
// priorities that the command may have had since then.

extension Monitor {
    /// A thread begins to change the priority of a command.
    ///
    /// - Returns: What that was.
    func priorityChanges(of index: Int, to priority: CommandPriority) -> CommandPriority? {
        let (old, before) = (notes[index].priorities, notes[index].priority)
        notes[index].priorities = min(old.lowerBound, priority)...max(old.upperBound, priority)
        notes[index].priority = nil
        return before
    }

    /// The command has a priority from now on.
    func priorityHasChanged(of index: Int, to priority: CommandPriority?) {
        notes[index].priority = priority
    }

    /// The holder of a turn has seen the line: from now on it goes by the priorities that the commands have.
    func seePriorities(of value: Int) {
        for index in notes.indices where notes[index].command.value == value {
            if let priority = notes[index].priority { notes[index].priorities = priority...priority }
        }
    }
}

extension Monitor.Note {
    init(_ command: Command) {
        let priority = command.priority
        self.init(command: command, priorities: priority...priority, priority: priority)
    }

    /// Whether it had the same priority as another one for as long as that matters.
    func surelyEquals(_ other: Monitor.Note) -> Bool {
        let (own, others) = (priorities, other.priorities)
        return own == others && own.lowerBound == own.upperBound
    }
}
