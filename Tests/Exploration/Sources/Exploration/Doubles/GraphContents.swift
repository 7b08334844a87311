//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Looks into the graph of waiting threads, which all values share: what it holds, and not how it came to that.
///
/// Without it everything is explored too, but states that differ in nothing but the past of the graph count as
/// different.
@safe
struct GraphContents {
    private let lock: UnsafeMutablePointer<PlatformLock.Storage>
    private let graph: WaitGraph

    init?(_ graph: WaitGraph) {
        self.graph = graph
        unsafe lock = graph.mutex.storage
    }

    func isGuarded(by lock: UnsafeMutablePointer<PlatformLock.Storage>) -> Bool {
        unsafe lock == self.lock
    }

    /// Whether a thread stands in it, as a holder.
    func contains(_ thread: UInt64) -> Bool {
        graph.waits.entries[thread] != nil
    }

    /// One number for all that the lock guards, if it is the lock of the graph.
    func contents(guardedBy lock: UnsafeMutablePointer<PlatformLock.Storage>) -> UInt64? {
        guard unsafe lock == self.lock else { return nil }
        var sum: UInt64 = 0
        for (waiter, entry) in graph.waits.entries {
            for wait in [entry.first] + entry.others {
                sum &+= unsafe mix(mix(waiter, UInt64(wait.count)), wait.resource.word.storage.pointee.id)
            }
        }
        return sum
    }
}
