//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Where commands run.
enum Place: String, CaseIterable, Sendable {
    case wait
    case timed = "wait with a time limit"
    case async
    case awaited
}

/// What goes wrong on purpose.
enum Fault: String, CaseIterable, Sendable {
    case doneDropped = "done dropped"
    case doneTwice = "done called twice"
    case doneLate = "done called late, on another thread"
    case closureThrows = "a closure that throws"
    case timedOut = "a command timed out"
    case cancelled = "a command cancelled by its handle"
    case taskCancelled = "a task cancelled"
    case reentrant = "a command that waits for itself"
    case circle = "two values taken in opposite orders"
    case suspended = "a value suspended"
    case queueSuspended = "a target queue suspended"
    case queueBusy = "a target queue kept busy"
    case refused = "a command refused by a full value"
    case released = "a value released with commands pending"
}

/// How often what was done.
struct Counts: Sendable {
    private(set) var commands: [Place: Int] = [:]
    private(set) var faults: [Fault: Int] = [:]

    mutating func add(_ place: Place) { commands[place, default: 0] += 1 }

    mutating func add(_ fault: Fault) { faults[fault, default: 0] += 1 }

    mutating func add(_ other: Counts) {
        commands.merge(other.commands, uniquingKeysWith: +)
        faults.merge(other.faults, uniquingKeysWith: +)
    }

    var total: Int { commands.values.reduce(0, +) }
}

/// What all rounds found. Made of Foundation's lock, as what is tested must not report on itself.
final class Findings: @unchecked Sendable {
    private let lock = NSLock()
    // All guarded by `lock`.
    private var counts = Counts()
    private var violations = 0

    func add(_ counts: Counts) {
        lock.withLock { self.counts.add(counts) }
    }

    /// Something happened that must not.
    func violation(_ what: @autoclosure () -> String) {
        lock.withLock {
            violations += 1
            if violations <= 20 { say("VIOLATION: \(what())") }
        }
    }

    func require(_ isTrue: Bool, _ what: @autoclosure () -> String) {
        if !isTrue { violation(what()) }
    }

    var summary: (counts: Counts, violations: Int) {
        lock.withLock { (counts, violations) }
    }
}

/// Prints a line at once, also into a file.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
