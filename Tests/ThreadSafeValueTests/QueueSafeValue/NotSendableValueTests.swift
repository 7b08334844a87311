//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// `done` is called on another thread than the command's; the value, of a type that is not `Sendable`, never leaves the
/// thread that made it. So an object in it that goes away elsewhere, or a copy that another thread still has, is a
/// mistake each time; only how often it can be seen depends on chance.
@Suite("One at a time: a value that is not Sendable stays on the thread that called")
struct NotSendableValueTests {
    @Test("What a command replaces or returns goes away on the calling thread, wherever `done` is called")
    func letGo() throws {
        let elsewhere = try inTime {
            let caller = Caller()
            let elsewhere = Unguarded(0)
            for round in 0..<10_000 {
                let value = QueueSafeValue(value: Owned(elsewhere))
                let answer = value.wait.lowestPriority.set { owned, done in
                    owned = Owned(elsewhere)
                    caller.call(done)
                }
                if case .failure = answer { elsewhere.value += 1_000_000 }
                guard round % 2 == 0 else { continue }
                value.wait.highestPriority.get { _, done in caller.call(done) }
            }
            caller.end()
            return elsewhere.value
        }
        #expect(elsewhere == 0)
    }

    @Test("Nobody else has a copy of the value when a command has returned, so that it is changed in place")
    func copied() throws {
        let (copies, sum) = try inTime {
            let caller = Caller()
            let value = QueueSafeValue(value: Number())
            var copies = 0
            for _ in 0..<10_000 {
                value.wait.lowestPriority.set { number, done in
                    number.increment()
                    caller.call(done)
                }
                _ = value.wait.lowestPriority.map { _ in }
                value.wait.lowestPriority.set { if !$0.isUnique { copies += 1 } }
            }
            caller.end()
            return (copies, try value.wait.lowestPriority.map { $0.box.number }.get())
        }
        #expect(copies == 0)
        #expect(sum == 10_000)
    }
}

/// Not `Sendable`: counts when it goes away on another thread than it came.
private final class Owned {
    private let thread = ThreadID.current
    private let elsewhere: Unguarded<Int>

    init(_ elsewhere: Unguarded<Int>) {
        self.elsewhere = elsewhere
    }

    deinit {
        // What goes away elsewhere may be counted too seldom, but not be missed.
        if ThreadID.current != thread { elsewhere.value += 1 }
    }
}

/// A value with an object of its own, which it copies before a change only if somebody else has it too.
private struct Number {
    final class Box {
        var number = 0
    }

    var box = Box()

    var isUnique: Bool { mutating get { isKnownUniquelyReferenced(&box) } }

    mutating func increment() {
        box.number += 1
    }
}

/// A thread that calls each `done` that it is given.
private final class Caller: Sendable {
    private let calls = Log<CommandCompletionClosure>()
    private let arrived = DispatchSemaphore(value: 0)
    private let thread: RunningThread

    init() {
        thread = RunningThread { [calls, arrived] in
            while true {
                arrived.wait()
                guard let done = calls.takeFirst() else { return }
                done()
            }
        }
    }

    func call(_ done: @escaping CommandCompletionClosure) {
        calls.add(done)
        arrived.signal()
    }

    func end() {
        arrived.signal()
        thread.join()
    }
}
