//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Who submits commands of one priority to one line: the calling thread, and in a task that as well. No command passes
/// one that was submitted before it by the same thread or task.
///
/// A newcomer knows the latest that it has submitted, by its arrival. The arrivals stand in one table for all lines. Each
/// thread or task has a cache line of it, so that threads that submit to different values seldom write to the same, and
/// in that a word for the priority and the line. Who shares a word with another finds the latest of both, and at worst
/// stands in line where it might have barged.
struct Submitter {
    private let thread: AtomicWord
    private let task: AtomicWord?

    /// What its commands know of it: one half is of the thread, one of the task, and 0 if there is none. One pair in
    /// 32,000 counts as one.
    let identity: UInt32

    /// - Parameters:
    ///   - level: That of the priority.
    ///   - line: The identity of the line.
    init(level: UInt64, line: UInt) {
        let line = UInt64(line) | level
        let (thread, task) = (currentThreadIdentity(), Self.taskIdentity)
        self.thread = Self.word(of: thread, line)
        self.task = task == 0 ? nil : Self.word(of: task, line)
        identity = Self.half(of: thread) << 16 | (task == 0 ? 0 : Self.half(of: task))
    }
}

extension Submitter {
    /// When the latest command came to the line; 0 if none did. Commands of others may count.
    var latestArrival: UInt64 { max(thread.load(), task?.load() ?? 0) }

    /// A command has come to the line.
    func submits(at arrival: UInt64) {
        thread.raise(to: arrival)
        task?.raise(to: arrival)
    }

    /// A number for the current task, or for the one that awaits the body in which that is: all that runs for a task is
    /// one submitter. Outside of tasks for the one that awaits what the thread runs; 0 if none does.
    static var taskIdentity: UInt64 {
        unsafe withUnsafeCurrentTask { task in
            // Faster than to bind it, as mostly there is none.
            unsafe task.map { unsafe TaskBody.current?.submitter ?? UInt64(truncatingIfNeeded: $0.hashValue) }
        } ?? AwaitedClosure.current?.submitter ?? 0
    }
}

extension Submitter {
    /// Whether two identities are of one thread, or of one task.
    static func isSame(_ identity: UInt32, _ other: UInt32) -> Bool {
        let task = UInt16(truncatingIfNeeded: identity)
        return identity >> 16 == other >> 16 || task != 0 && task == UInt16(truncatingIfNeeded: other)
    }

    private static func half(of submitter: UInt64) -> UInt32 { UInt32(mixed(submitter) >> 48) | 1 }
}

extension Submitter {
    private static var wordsOfEach: Int { 8 }
    private static var bitsOfCount: UInt64 { 10 }

    nonisolated(unsafe) private static let table: UnsafeMutablePointer<AtomicWord.Storage> = {
        let count = wordsOfEach << bitsOfCount
        let size = MemoryLayout<AtomicWord.Storage>.stride
        let table = UnsafeMutableRawPointer.allocate(byteCount: count * size, alignment: wordsOfEach * size)
        return unsafe table.initializeMemory(as: AtomicWord.Storage.self, repeating: AtomicWord.zero, count: count)
    }()

    private static func word(of submitter: UInt64, _ line: UInt64) -> AtomicWord {
        let place = Int(mixed(submitter) >> (64 - bitsOfCount)) * wordsOfEach
        return unsafe AtomicWord(table + (place + Int(mixed(submitter ^ line) >> 61)))
    }

    private static func mixed(_ number: UInt64) -> UInt64 { number &* 0x9E37_79B9_7F4A_7C15 }
}
