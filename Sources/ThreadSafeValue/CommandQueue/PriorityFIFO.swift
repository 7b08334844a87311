//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Commands in order of priority, and within a priority in order of arrival. Every operation on one command is O(1).
///
/// One doubly linked list a priority, through the commands themselves, so that a command is one allocation and can leave
/// from the middle. A plain struct without locks: whoever owns it protects it, and never copies it. It keeps the commands
/// in it alive, and must be empty when it goes away.
package struct PriorityFIFO {
    @safe
    private struct List {
        var first: PendingCommand.Link?
        var last: PendingCommand.Link?
        var count = 0
    }

    /// One list for each level of priority; a bit of `occupied` for each that is not empty.
    private var lists: [List]
    private var occupied: UInt64 = 0

    package init() {
        lists = Array(repeating: List(), count: Int(CommandPriority.highest.level) + 1)
    }
}

extension PriorityFIFO {
    package var isEmpty: Bool { occupied == 0 }

    package var count: Int { lists.reduce(0) { count, list in count + list.count } }

    package func count(of priority: CommandPriority) -> Int { lists[Int(priority.level)].count }

    /// The command whose turn is next.
    package var first: PendingCommand? {
        isEmpty ? nil : unsafe lists[highestLevel].first?.takeUnretainedValue()
    }

    /// The first command of one priority.
    package func first(of priority: CommandPriority) -> PendingCommand? {
        unsafe lists[Int(priority.level)].first?.takeUnretainedValue()
    }

    /// Adds a command behind all others of its priority.
    package mutating func append(_ command: PendingCommand) {
        let level = Int(command.priority.level)
        let link = unsafe Unmanaged.passRetained(command)
        let last = unsafe lists[level].last
        unsafe command.previous = last
        unsafe lists[level].last = link
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = link }
        } else {
            unsafe lists[level].first = link
            occupied |= 1 << UInt64(level)
        }
        lists[level].count += 1
    }

    /// Takes out a command, wherever it stands. It must be in this FIFO.
    package mutating func remove(_ command: PendingCommand) {
        let link = unsafe Unmanaged.passUnretained(command)
        unsafe remove(CommandRun(first: link, last: link, count: 1), level: Int(command.priority.level))
        unsafe link.release()
    }

    /// Takes out the first command and those of its priority behind it, for as long as `include` says so.
    mutating func removeRun(while include: (borrowing PendingCommand, _ count: Int) -> Bool) -> CommandRun {
        guard let first = unsafe lists[highestLevel].first else { return CommandRun() }
        unsafe first._withUnsafeGuaranteedRef { $0.becomePartOfRun() }
        var last = unsafe first
        var count = 1
        while let next = unsafe last._withUnsafeGuaranteedRef({ unsafe $0.next }),
            unsafe next._withUnsafeGuaranteedRef({ include($0, count) })
        {
            unsafe next._withUnsafeGuaranteedRef { $0.becomePartOfRun() }
            unsafe last = next
            count += 1
        }
        let run = unsafe CommandRun(first: first, last: last, count: count)
        remove(run, level: highestLevel)
        return run
    }

    /// Adds commands before all others of their priority, in their order, and leaves the run empty.
    mutating func prepend(_ run: inout CommandRun) {
        guard let first = unsafe run.first, let last = unsafe run.last else { return }
        let level = unsafe first._withUnsafeGuaranteedRef { Int($0.priority.level) }
        let behind = unsafe lists[level].first
        unsafe first._withUnsafeGuaranteedRef { unsafe $0.previous = nil }
        unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = behind }
        unsafe lists[level].first = first
        if let behind = unsafe behind {
            unsafe behind._withUnsafeGuaranteedRef { unsafe $0.previous = last }
        } else {
            unsafe lists[level].last = last
            occupied |= 1 << UInt64(level)
        }
        lists[level].count += run.count
        run = CommandRun()
    }
}

extension PriorityFIFO {
    /// The index of the first list that has commands, 0 if there is none.
    private var highestLevel: Int {
        isEmpty ? 0 : UInt64.bitWidth - 1 - occupied.leadingZeroBitCount
    }

    /// Unlinks a piece of a list. Who gets the piece gets what keeps its commands alive.
    private mutating func remove(_ run: CommandRun, level: Int) {
        guard let first = unsafe run.first, let last = unsafe run.last else { return }
        let before = unsafe first._withUnsafeGuaranteedRef { unsafe $0.previous }
        let behind = unsafe last._withUnsafeGuaranteedRef { unsafe $0.next }
        unsafe first._withUnsafeGuaranteedRef { unsafe $0.previous = nil }
        unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = nil }
        if let before = unsafe before {
            unsafe before._withUnsafeGuaranteedRef { unsafe $0.next = behind }
        } else {
            unsafe lists[level].first = behind
        }
        if let behind = unsafe behind {
            unsafe behind._withUnsafeGuaranteedRef { unsafe $0.previous = before }
        } else {
            unsafe lists[level].last = before
        }
        if unsafe lists[level].first == nil { occupied &= ~(1 << UInt64(level)) }
        lists[level].count -= run.count
    }
}
