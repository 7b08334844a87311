//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Looks into the graph of waiting threads, which all values share: what it holds, and not how it came to that.
///
/// Without it everything is explored too, but states that differ in nothing but the past of the graph count as different.
@safe
struct GraphContents {
    private let lock: UnsafeMutablePointer<PlatformLock.Storage>
    private let turns: UnsafeMutablePointer<[UInt64: [UnsafeMutablePointer<AtomicWord.Storage>]]>

    /// `nil` if the graph is not made as expected: a protected dictionary from threads to lists of words.
    init?(_ graph: WaitGraph) {
        guard let handle = Mirror(reflecting: graph).children.first?.value,
            let storage = Mirror(reflecting: handle).children.first?.value,
            String(reflecting: type(of: storage)).contains(
                "ProtectedStorage<Swift.Dictionary<Swift.UInt64, Swift.Array<"
            ),
            MemoryLayout<AtomicWord>.size == MemoryLayout<UnsafeMutablePointer<AtomicWord.Storage>>.size
        else { return nil }
        typealias Buffer = ManagedBuffer<[UInt64: [UnsafeMutablePointer<AtomicWord.Storage>]], PlatformLock.Storage>
        (turns, lock) = unsafe unsafeBitCast(storage as AnyObject, to: Buffer.self).withUnsafeMutablePointers {
            unsafe ($0, $1)
        }
    }

    func isGuarded(by lock: UnsafeMutablePointer<PlatformLock.Storage>) -> Bool {
        unsafe lock == self.lock
    }

    /// One number for all that the lock guards, if it is the lock of the graph.
    func contents(guardedBy lock: UnsafeMutablePointer<PlatformLock.Storage>) -> UInt64? {
        guard unsafe lock == self.lock else { return nil }
        var sum: UInt64 = 0
        for (thread, words) in unsafe turns.pointee {
            unsafe sum &+= words.reduce(thread) { unsafe mix($0, $1.pointee.id) }
        }
        return sum
    }
}
