//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// A closure without a label and with each label of the original framework, as an argument and trailing. Compiled
// twice, as the other call forms.

import Dispatch
import Testing
import ThreadSafeValue

@Suite("The call forms of closures")
struct ClosureCallForms {
    @Test func `in a condition`() {
        let value = QueueSafeValue(value: 1)
        guard case .success = value.wait.highestPriority.set({ $0 += 1 }) else {
            Issue.record("It failed.")
            return
        }
        guard case .success = value.wait.highestPriority.set({ current, done in done() }) else {
            Issue.record("It failed.")
            return
        }
        if case .failure = value.wait.lowestPriority.map({ "\($0)" }) { Issue.record("It failed.") }
        if case .failure = value.wait.lowestPriority.update({ $0 * 2 }) { Issue.record("It failed.") }
        if case .failure = value.wait.lowestPriority.get({ _, done in done() }) { Issue.record("It failed.") }
        if value.wait.lowestPriority.set({ $0 += 1 }) != .success(3) { Issue.record("It failed.") }
        let synced = QueueSafeSyncedValue(value: 1)
        if case .failure = synced.lowestPriority.set({ $0 += 1 }) { Issue.record("It failed.") }
        if case .failure = synced.lowestPriority.set({ current, done in done() }) { Issue.record("It failed.") }
    }

    @Test func `in a condition that is awaited`() async {
        let value = QueueSafeValue(value: 1)
        guard case .success = await value.async.highestPriority.set({ $0 += 1 }) else {
            Issue.record("It failed.")
            return
        }
        if case .failure = await value.async.lowestPriority.set({ current in await Task.yield() }) {
            Issue.record("It failed.")
        }
        if case .failure = await value.async.lowestPriority.map({ "\($0)" }) { Issue.record("It failed.") }
        if case .failure = await value.async.lowestPriority.update({ $0 * 2 }) { Issue.record("It failed.") }
        if case .failure = await value.async(performIn: .utility).lowestPriority.update({ $0 += 1 }).value {
            Issue.record("It failed.")
        }
        #expect(await value.async.lowestPriority.get() == .success(3))
    }

    @Test func `wait, without a label and with each`() {
        let commands = QueueSafeValue(value: 0).wait.lowestPriority
        commands.get({ result in #expect(result == .success(0)) })
        commands.get({ result, done in done() })
        commands.get(completion: { result in #expect(result == .success(0)) })
        commands.get(manualCompletion: { result, done in done() })
        commands.set({ $0 += 1 })
        commands.set({ current, done in done() })
        commands.set(completion: { $0 += 1 })
        commands.set(manualCompletion: { current, done in done() })
        #expect(commands.map({ $0 + 1 }) == .success(3))
        #expect(commands.map(completion: { $0 + 1 }) == .success(3))
        #expect(commands.update({ $0 }) == .success(2))
    }

    @Test func `wait, with a closure that does not escape`() {
        let value = QueueSafeValue(value: 1)
        func change(_ body: (inout Int) -> Void) { value.wait.lowestPriority.set(body) }
        func read(_ body: (Int) -> Int) -> Result<Int, QueueSafeValueError> { value.wait.lowestPriority.map(body) }
        var count = 0
        change { current in
            count += 1
            current += count
        }
        #expect(read { $0 + count } == .success(3))
    }

    @Test func `wait, with a closure that throws`() {
        let commands = QueueSafeValue(value: 0).wait.lowestPriority
        let failure = Result<Int, QueueSafeValueError>.failure(.unexpected(error: CancellationError()))
        #expect(commands.set({ _ in throw CancellationError() }) == failure)
        #expect(commands.set { _, _ in throw CancellationError() } == failure)
        #expect(commands.set(completion: { _ in throw CancellationError() }) == failure)
        #expect(commands.set(manualCompletion: { _, _ in throw CancellationError() }) == failure)
    }
}

extension ClosureCallForms {
    @Test func `async, without a label and with each`() {
        let group = DispatchGroup()
        let tell: @Sendable (Result<Int, QueueSafeValueError>) -> Void = { result in
            if case .failure(let error) = result { Issue.record("\(error)") }
            group.leave()
        }
        let commands = QueueSafeAsyncedValue(value: 0, queue: .global()).lowestPriority
        for _ in 0..<19 { group.enter() }

        commands.get({ tell($0) })
        commands.get(tell)
        commands.get(completion: { tell($0) })
        commands.get(completion: tell)
        commands.get({ _, done in done() })
        commands.get({ _, done in done() }, completion: tell)
        commands.get(manualCompletion: { _, done in done() })
        commands.get(manualCompletion: { _, done in done() }, completion: tell)
        commands.get { _, done in
            done()
        } completion: {
            tell($0)
        }

        commands.set(newValue: 1, completion: tell)
        commands.set({ $0 += 1 })
        commands.set({ $0 += 1 }, completion: tell)
        commands.set({ $0 += 1 }) { tell($0) }
        commands.set(accessClosure: { $0 += 1 })
        commands.set(accessClosure: { $0 += 1 }, completion: tell)
        commands.set(accessClosure: { $0 += 1 }) { tell($0) }
        commands.set { current, done in
            current += 1
            done()
        } completion: {
            tell($0)
        }
        commands.set({ current, done in done() })
        commands.set({ current, done in done() }, completion: tell)
        commands.set({ current, done in done() }) { tell($0) }
        commands.set(manualCompletion: { current, done in done() })
        commands.set(manualCompletion: { current, done in done() }, completion: tell)
        commands.set(manualCompletion: { current, done in done() }) { tell($0) }

        let seven = 7
        commands.update({ $0 + seven }, completion: { tell($0) })
        commands.update({ $0 + seven }) { tell($0) }
        group.wait()
    }

    @Test func `closures that may be nil, in each form`() {
        let value = QueueSafeValue(value: 0)
        let noAccess: (@Sendable (inout Int) -> Void)? = nil
        let noManual: (@Sendable (inout Int, @escaping CommandCompletionClosure) -> Void)? = nil
        let noGet: (@Sendable (Result<Int, QueueSafeValueError>) -> Void)? = nil
        let wait = value.wait.lowestPriority
        #expect(wait.set(completion: noAccess) == .failure(.commandClosureDeallocated))
        #expect(wait.set(manualCompletion: noManual) == .failure(.commandClosureDeallocated))
        wait.get(completion: noGet)

        let group = DispatchGroup()
        let tell: @Sendable (Result<Int, QueueSafeValueError>) -> Void = { result in
            #expect(result == .failure(.commandClosureDeallocated))
            group.leave()
        }
        let async = value.async(performIn: .utility).lowestPriority
        for _ in 0..<4 { group.enter() }
        async.set(accessClosure: noAccess, completion: tell)
        async.set(manualCompletion: noManual, completion: tell)
        async.set(accessClosure: nil) { tell($0) }
        async.set(manualCompletion: nil) { tell($0) }
        async.set({ $0 += 1 }, completion: noGet)
        async.get(completion: noGet)
        group.wait()
    }
}
