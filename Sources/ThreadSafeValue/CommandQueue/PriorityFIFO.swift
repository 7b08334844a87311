//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Commands in order of priority, and within a priority in order of arrival. Every operation is O(1).
///
/// One doubly linked list a priority, through the commands themselves, so that a command is one allocation and can
/// leave from the middle. A plain struct without locks: whoever owns it protects it, and never copies it. It keeps the
/// commands in it alive, and must be empty when it goes away.
package struct PriorityFIFO {
    @safe
    struct List {
        fileprivate(set) var first: PendingCommand.Link?
        fileprivate(set) var last: PendingCommand.Link?
        var count = 0
    }

    /// One list for each level of priority, made with the first command; a bit of `occupied` for each that is not
    /// empty.
    private(set) var lists: [List] = []
    private var occupied: UInt64 = 0

    package private(set) var count = 0

    package init() {}
}

extension PriorityFIFO {
    package var isEmpty: Bool { occupied == 0 }

    package func count(of priority: CommandPriority) -> Int {
        lists.isEmpty ? 0 : lists[Int(priority.level)].count
    }

    /// The command whose turn is next.
    package var first: PendingCommand? { unsafe firstLink?.takeUnretainedValue() }

    @inline(__always)
    var firstLink: PendingCommand.Link? {
        isEmpty ? nil : unsafe lists[firstLevel].first
    }

    /// The command of a priority, or of any, that came first.
    package func first(of priority: CommandPriority?) -> PendingCommand? {
        guard let priority, !lists.isEmpty else { return first }
        return unsafe lists[Int(priority.level)].first?.takeUnretainedValue()
    }

    /// Adds a command behind all others of its priority.
    package mutating func append(_ command: PendingCommand) {
        if lists.isEmpty { lists = Array(repeating: List(), count: Int(CommandPriority.highest.level) + 1) }
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
        count += 1
    }

    /// How many commands there are of the priority of the first.
    var firstCount: Int { isEmpty ? 0 : lists[firstLevel].count }

    private var firstLevel: Int { UInt64.bitWidth - 1 - occupied.leadingZeroBitCount }

    /// Takes out the first commands, all of one priority, and leaves them alive and linked.
    mutating func dropFirst(_ number: Int, _ body: (PendingCommand) -> Void) {
        if number == 0 { return }
        let level = firstLevel
        for _ in 0..<number {
            unsafe lists[level].first!._withUnsafeGuaranteedRef { command in
                body(command)
                unsafe lists[level].first = command.next
            }
        }
        if let first = unsafe lists[level].first {
            unsafe first._withUnsafeGuaranteedRef { unsafe $0.previous = nil }
        } else {
            unsafe lists[level].last = nil
            occupied &= ~(1 << UInt64(level))
        }
        lists[level].count -= number
        count -= number
    }

    /// Takes out a command, wherever it stands. It must be in this FIFO.
    package mutating func remove(_ command: PendingCommand) {
        let level = Int(command.priority.level)
        let before = unsafe command.previous
        let behind = unsafe command.next
        unsafe command.previous = nil
        unsafe command.next = nil
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
        lists[level].count -= 1
        count -= 1
        unsafe Unmanaged.passUnretained(command).release()
    }
}
