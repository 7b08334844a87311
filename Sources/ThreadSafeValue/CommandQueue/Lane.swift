//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

package import Dispatch

/// The commands that wait for one target queue, and what is known of the block that was sent to fetch them.
///
/// At most one block is out a lane: it takes the turn if it may and runs the lane's commands one after the other, so one
/// dispatch serves many. A lane lives in the line only while it has commands, a block out or a block at work.
///
/// `@unchecked Sendable`: everything mutable is protected by the line's lock.
@safe
package final class Lane: @unchecked Sendable {
    let target: DispatchQueue

    // Unchecked: the methods below are all that touches it, and none leads to another.
    @exclusivity(unchecked) private var commands = PriorityFIFO()

    /// When the block that is out was sent, in nanoseconds of `now()`; `nil` while none is out.
    var blockSent: UInt64?

    /// Its block is at work and will look for more commands.
    var isServed = false

    /// Its queue did not start the block in time: the lane's commands have no place in line until the block arrives.
    package var isOverdue = false

    /// The command queue, which lives as long as the lane has commands: see `PendingCommand.run`.
    unowned(unsafe) private let queue: (any LaneOwner)?

    package init(target: DispatchQueue, of queue: (any LaneOwner)? = nil) {
        self.target = target
        unsafe self.queue = queue
    }
}

/// A command queue, whatever its value, as its lanes see it.
package protocol LaneOwner: AnyObject {
    /// The line changed: makes its invariants true again. To be called without the lock.
    func settleLine()
}

extension Lane {
    /// The command queue; only under the line's lock, while the lane has a command.
    var owner: (any LaneOwner)? { unsafe queue }

    /// Nothing is left of it to do or to wait for.
    var isIdle: Bool { isEmpty && blockSent == nil && !isServed }

    var count: Int { unsafe commands.count }

    func count(of priority: CommandPriority) -> Int { unsafe commands.count(of: priority) }

    var isEmpty: Bool { unsafe commands.isEmpty }

    /// The command of the lane whose turn is next.
    package var first: PendingCommand? { unsafe commands.first }

    func first(of priority: CommandPriority) -> PendingCommand? { unsafe commands.first(of: priority) }

    func append(_ command: PendingCommand) { unsafe commands.append(command) }

    func remove(_ command: PendingCommand) { unsafe commands.remove(command) }

    func removeRun(while include: (borrowing PendingCommand, _ count: Int) -> Bool) -> CommandRun {
        unsafe commands.removeRun(while: include)
    }

    func prepend(_ run: inout CommandRun) { unsafe commands.prepend(&run) }

    /// Whether commands for `queue` belong here.
    func serves(_ queue: DispatchQueue) -> Bool {
        target === queue || target.isSameQueue(as: queue)
    }
}

extension DispatchQueue {
    /// Whether two objects stand for one queue.
    fileprivate func isSameQueue(as other: DispatchQueue) -> Bool {
        #if canImport(ObjectiveC)
        false
        #else
        // `DispatchQueue.main` and `.global()` make a new object at each call. Without this, commands for them would have
        // a lane each.
        Self.handlesAreReadable && handle == other.handle
        #endif
    }

    #if !canImport(ObjectiveC)
    /// The queue itself, which is all that an object stores.
    private var handle: UInt {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()).load(
            fromByteOffset: 2 * MemoryLayout<UInt>.size,
            as: UInt.self
        )
    }

    /// Whether objects are laid out as `handle` expects: it tells queues apart, and knows a queue in two objects.
    private static let handlesAreReadable: Bool = {
        let queues = [main, global(), global(qos: .background), DispatchQueue(label: "")].map(\.handle)
        return main.handle == queues[0] && global().handle == queues[1] && Set(queues).count == queues.count
    }()
    #endif
}
