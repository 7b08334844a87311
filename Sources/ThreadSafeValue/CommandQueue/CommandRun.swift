//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Commands of one lane and one priority that were taken out of the line together, to run one after the other.
///
/// They were next, and what comes later stands behind them, so their order is settled; only something more urgent may
/// come between, and then the rest is put back. So the line's lock is taken once for many commands. Like `PriorityFIFO`
/// it keeps its commands alive and must be empty when it goes away.
@safe
package struct CommandRun {
    private(set) var first: PendingCommand.Link?
    private(set) var last: PendingCommand.Link?
    private(set) var count = 0
}

extension CommandRun {
    /// A piece of a list, from `first` to `last`.
    init(first: PendingCommand.Link, last: PendingCommand.Link, count: Int) {
        unsafe self.first = first
        unsafe self.last = last
        self.count = count
    }

    var isEmpty: Bool { count == 0 }

    /// Adds a command at the end; the run keeps it alive from now on.
    mutating func append(_ command: PendingCommand) {
        let link = unsafe Unmanaged.passRetained(command)
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = link }
        } else {
            unsafe first = link
        }
        unsafe last = link
        count += 1
    }

    /// Lets go of all commands.
    mutating func removeAll() {
        while popFirst() != nil {}
    }

    mutating func popFirst() -> PendingCommand? {
        guard let command = unsafe first?.takeRetainedValue() else { return nil }
        unsafe first = command.next
        if unsafe first == nil { unsafe last = nil }
        unsafe command.next = nil
        count -= 1
        return command
    }
}
