//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

private typealias Answer = Result<Int, QueueSafeValueError>

@Suite("Lifetime: an object that a command lets go may use the value in its `deinit`")
struct DeinitTests {
    @Test("An object that a command lets go may wait for the value in its `deinit`, after the command")
    func deinitWaits() throws {
        let answers = try inTime {
            let value = QueueSafeValue(value: 1)
            let answers = Log<Answer>()
            let queue = DispatchQueue(label: "target")
            let blocker = Blocker(value)
            for _ in 0..<5 {
                let last = Last { answers.add(value.wait.highestPriority.get()) }
                value.async(performIn: queue).lowestPriority.set { _ in withExtendedLifetime(last) {} }
            }
            blocker.end()
            try poll("all objects are gone") { answers.count == 5 }
            return answers.entries
        }
        #expect(answers == Array(repeating: .success(1), count: 5))
    }

    enum Way: CaseIterable, Sendable {
        case replaced
        case replacedWithCompletion
        case captured
        case replacedByThread
        case completed
    }

    /// It submits a command, and waits for it. The queue is concurrent, so there is a thread for that one, and it is
    /// free: the thread that waits has no turn, and runs no command. Not many at once: the pool makes new threads only
    /// slowly when its threads wait.
    @Test("So it may for a command on a concurrent queue", arguments: Way.allCases, [1, 4])
    func concurrentQueue(way: Way, count: Int) throws {
        let told = try inTime {
            let told = Log<Bool>()
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let value = QueueSafeValue<Last?>(value: nil)
            let group = DispatchGroup()
            let makeLast: @Sendable () -> Last = {
                group.enter()
                return Last {
                    let end = Door()
                    value.async(performIn: queue).lowestPriority.get { _ in end.open() }
                    end.waitUntilOpen()
                    told.add(value.wait.lowestPriority.map { _ in 0 } == .success(0))
                    group.leave()
                }
            }
            // Each that waits needs a thread of the pool, and `done` another.
            let count = way == .completed ? 1 : count
            for _ in 0..<count {
                let commands = value.async(performIn: queue).lowestPriority
                switch way {
                case .replaced:
                    commands.set(newValue: makeLast())
                    commands.set(newValue: nil)
                case .replacedWithCompletion:
                    commands.set(newValue: makeLast()) { _ in }
                    commands.set(newValue: nil) { _ in }
                case .captured:
                    let last = makeLast()
                    commands.get { _ in withExtendedLifetime(last) {} }
                case .replacedByThread:
                    value.wait.lowestPriority.set(newValue: makeLast())
                    value.wait.lowestPriority.set(newValue: nil)
                case .completed:
                    let last = makeLast()
                    commands.set { _, done in
                        DispatchQueue.global().async(execute: done)
                    } completion: { _ in
                        withExtendedLifetime(last) {}
                    }
                }
            }
            guard group.wait(timeout: .now() + 300) == .success else {
                throw Hung(description: "\(told.count) of \(count) have gone.")
            }
            return told.entries
        }
        #expect(told == Array(repeating: true, count: way == .completed ? 1 : count))
    }

    /// A present block would be waited for: ten minutes with this policy.
    @Test("What a command captured goes away when its queue may have another block")
    func captured() throws {
        let isGone = try inTime {
            let value = QueueSafeValue(value: 0)
            let commands = value.async(performIn: DispatchQueue(label: "concurrent", attributes: .concurrent))
            let gone = Door()
            do {
                let last = Last {
                    let end = Door()
                    commands.lowestPriority.get { _ in end.open() }
                    end.waitUntilOpen()
                    gone.open()
                }
                commands.lowestPriority.get { _ in withExtendedLifetime(last) {} }
            }
            gone.waitUntilOpen()
            return true
        }
        #expect(isGone)
    }

    /// The block of the queue has left the turn to the manual command, and tells listeners of the first: that takes long.
    @Test(
        "A value that a listener lets go may wait, and the lane's next commands have another block",
        arguments: [true, false]
    )
    func letGoByListener(isConcurrent: Bool) throws {
        let isOver = try inTime {
            let value = QueueSafeValue<Last?>(value: nil)
            let (over, gone) = (Door(), Door())
            // A listener that keeps the latest value, and is slow to fetch it.
            let changes = value.changes()
            value.wait.lowestPriority.set(
                newValue: Last {
                    _ = value.wait.lowestPriority.map { _ in 0 }
                    gone.open()
                }
            )
            let queue = DispatchQueue(label: "target", attributes: isConcurrent ? .concurrent : [])
            let commands = value.async(performIn: queue)
            // So that both are in one batch.
            value.suspend()
            commands.lowestPriority.set { $0 = nil }
            commands.lowestPriority.set { _, done in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
                    commands.highestPriority.get { _ in over.open() }
                    done()
                }
            }
            value.resume()
            over.waitUntilOpen()
            gone.waitUntilOpen()
            withExtendedLifetime(changes) {}
            return true
        }
        #expect(isOver)
    }

    enum Throwing: CaseIterable, Sendable {
        case set, manual, manualAndDone, completion
    }

    @Test("The error that a closure throws goes away without the turn", arguments: Throwing.allCases)
    func thrown(by way: Throwing) throws {
        struct Kept: Error {
            let last: Last
        }
        let told = try inTime {
            let told = Log<Bool>()
            let value = QueueSafeValue(value: 0)
            let kept: @Sendable () -> Kept = {
                Kept(last: Last { told.add(value.wait.lowestPriority.get() == .success(0)) })
            }
            let commands = value.async(performIn: DispatchQueue(label: "target")).lowestPriority
            switch way {
            case .set: commands.set { _ in throw kept() }
            case .manual: commands.set { (_, _) in throw kept() }
            case .manualAndDone:
                commands.set { _, done in
                    done()
                    throw kept()
                }
            case .completion:
                commands.set { _ in
                    throw kept()
                } completion: { _ in
                }
            }
            try poll("the error has gone") { told.count == 1 }
            return told.entries
        }
        #expect(told == [true])
    }

    enum Command: CaseIterable, Sendable {
        case update, updateInTime, updateWhen, set, ofTwo, ofList
    }

    @Test("What a command hands out and its caller drops goes away without the turn", arguments: Command.allCases)
    func dropped(by command: Command) throws {
        let told = try inTime {
            let told = Log<Bool>()
            let value = QueueSafeValue<Last?>(value: nil)
            value.wait.lowestPriority.set(
                newValue: Last { told.add(value.wait.lowestPriority.map { $0 == nil } == .success(true)) }
            )
            command.take(value)
            return told.entries
        }
        #expect(told == [true])
    }
}

extension DeinitTests.Command {
    // Not inlined, so that what is handed out and dropped has gone when this returns.
    @inline(never)
    fileprivate func take(_ value: QueueSafeValue<Last?>) {
        switch self {
        case .update: _ = value.wait.lowestPriority.update { $0.take() }
        case .updateInTime: _ = value.wait(timeout: .seconds(300)).lowestPriority.update { $0.take() }
        case .updateWhen: _ = value.wait.lowestPriority.update(when: { $0 != nil }) { $0.take() }
        case .set: _ = value.wait.lowestPriority.set(newValue: nil)
        case .ofTwo: _ = withLocked(value, QueueSafeValue(value: 0)) { value, _ in value.take() }
        case .ofList: _ = withLocked([value]) { $0[0].take() }
        }
    }
}
