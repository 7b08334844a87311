//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Who submits commands of one priority to one line: the calling thread, and in a task that as well. No command passes
/// one that was submitted before it by the same thread or task.
///
/// A newcomer knows the latest that it has submitted, by its arrival. The arrivals stand in one table for all lines. Each thread or task has a cache line of it, so that threads that
/// submit to different values seldom write to the same, and in that a word for the priority and the line. Who shares a
/// word with another finds the latest of both, and at worst stands in line where it might have barged.
struct Submitter {
    private let thread: AtomicWord
    private let task: AtomicWord?

    /// Two bits for the thread and two for the task, one in each half: of all who have commands in a lane, these are
    /// known. One pair in a thousand counts as one.
    let bits: UInt64

    /// - Parameters:
    ///   - level: That of the priority.
    ///   - line: The identity of the line.
    init(level: UInt64, line: UInt) {
        let line = UInt64(line) | level
        let (thread, task) = (currentThreadIdentity(), Self.taskIdentity)
        self.thread = Self.word(of: thread, line)
        self.task = task == 0 ? nil : Self.word(of: task, line)
        bits = Self.bits(of: thread) | (task == 0 ? 0 : Self.bits(of: task))
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
    /// Whether anybody may be in both.
    static func mayShare(_ bits: UInt64, _ others: UInt64) -> Bool {
        let shared = bits & others
        return shared >> 32 != 0 && UInt32(truncatingIfNeeded: shared) != 0
    }

    private static func bits(of submitter: UInt64) -> UInt64 {
        let number = mixed(submitter)
        return 1 << (32 + (number >> 59)) | 1 << (number >> 54 & 31)
    }
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
