//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// The smallest programs that might break a lock, in other processes: each works, or crashes with a message; it never
/// hangs, and never reads what another thread writes.
@Suite("Small programs that might break a lock")
struct SmallProgramTests {
    @Test("What looks dangerous and is allowed just works")
    func works() async {
        await #expect(processExitsWith: .success) {
            for program in AllowedProgram.allCases { program.run() }
        }
    }

    @Test("What cannot work crashes with a message that says why", arguments: ForbiddenProgram.ending)
    func crashes(program: ForbiddenProgram) async throws {
        let result = try #require(await program.end())
        #if canImport(Darwin)
        #expect(result.crashMessage != "It hung.")
        #else
        #expect(result.crashMessage.contains(program.message))
        #endif
    }
}

private enum AllowedProgram: CaseIterable {
    case addsOwnMember, indexesByOwnMember, appendsWhileIterating, comparesWithItself, hashesItself, describesItself
    case triesInside, throwsFromNested, replacesDuringRead, endsLockAfterUnlock, spinsOnTry, thousandThreads
    case threadEndsHolding

    func run() {
        giveUp(afterSeconds: 120)
        switch self {
        case .addsOwnMember:
            let numbers = Protected(Numbers())
            onThreads(4) { _ in for _ in 0..<1_000 { numbers.sum += numbers.one } }
            precondition(numbers.sum == 4_000)
        case .indexesByOwnMember:
            let numbers = Protected(Numbers())
            onThreads(4) { _ in for _ in 0..<1_000 { numbers.list[numbers.one] += 1 } }
            precondition(numbers.list == [0, 4_000])
        case .appendsWhileIterating:
            let list = Protected([1, 2, 3])
            for element in list.wrappedValue { list.append(element) }
            precondition(list.wrappedValue == [1, 2, 3, 1, 2, 3])
        case .comparesWithItself:
            let list = Protected([1])
            onThreads(4) { _ in for _ in 0..<1_000 { precondition(list == list.projectedValue) } }
        case .hashesItself:
            Curious.shared.wrappedValue = Curious()
            precondition(Set([Curious.shared]).count == 1)
        case .describesItself:
            precondition("\(Curious.shared)".contains("curious 0"))
        case .triesInside:
            let list = Protected([1])
            list.write { _ in precondition(list.tryRead { $0 } == nil && list.debugDescription.contains("locked")) }
        case .throwsFromNested:
            let (first, second) = (Protected(1), Protected(2))
            try? first.write { _ in try second.write { _ in throw Stop() } }
            precondition(first.tryRead { $0 } == 1 && second.tryRead { $0 } == 2)
        case .replacesDuringRead:
            // The copy that a reader took out is its own.
            let list = Protected([1])
            let copy = list.read { $0 }
            list.append(2)
            precondition(copy == [1])
        case .endsLockAfterUnlock:
            // The last user ends the lock while another may still be inside `unlock()`.
            for _ in 0..<2_000 {
                let lock = WordLock()
                let first = RunningThread { lock.around { _ = usleep(1) } }
                let second = RunningThread { lock.around {} }
                lock.around { _ = sched_yield() }
                first.join()
                second.join()
            }
        case .spinsOnTry:
            let (lock, isOver) = (WordLock(), Protected(false))
            let spinner = RunningThread {
                while !isOver.wrappedValue {
                    if lock.tryLock() {
                        usleep(10)
                        lock.unlock()
                    }
                }
            }
            for _ in 0..<200 { lock.around {} }
            isOver.wrappedValue = true
            spinner.join()
        case .thousandThreads:
            let number = Protected(0)
            onThreads(1_000) { _ in number.write { $0 += 1 } }
            precondition(number.wrappedValue == 1_000)
        case .threadEndsHolding:
            // The lock stays held: a time-out finds that out.
            let lock = WordLock()
            RunningThread { lock.lock() }.join()
            precondition(!lock.tryLock() && !lock.lock(until: now() + 20_000_000))
            // It must not go away while it is held.
            Forever.locks.append(lock)
        }
    }
}

enum ForbiddenProgram: CaseIterable, Sendable {
    case swapsOwnMembers, sortsByItself, appendsFromItself, observerComesBack, getterComesBack, transitionComesBack
    case conditionComesBack, deinitComesBack, closureInValueComesBack, concurrentPerform, syncInside, nestsCrosswise
    case unlocksTwice, unlocksOther, locksInDefer

    // A lock of the system does not notice threads that wait for each other.
    fileprivate static let ending = allCases.filter { !isLockOfSystem || $0 != .nestsCrosswise }

    fileprivate var message: String {
        switch self {
        case .unlocksTwice, .unlocksOther: "unlocks a lock that it doesn't hold"
        case .nestsCrosswise: "Threads take locks in different orders"
        default: "takes a lock that it already holds"
        }
    }

    /// How a process ends that runs the program.
    fileprivate func end() async -> ExitTest.Result? {
        switch self {
        case .swapsOwnMembers:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.swapsOwnMembers.run() }
        case .sortsByItself:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.sortsByItself.run() }
        case .appendsFromItself:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.appendsFromItself.run() }
        case .observerComesBack:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.observerComesBack.run() }
        case .getterComesBack:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.getterComesBack.run() }
        case .transitionComesBack:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.transitionComesBack.run() }
        case .conditionComesBack:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.conditionComesBack.run() }
        case .deinitComesBack:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.deinitComesBack.run() }
        case .closureInValueComesBack:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.closureInValueComesBack.run() }
        case .concurrentPerform:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.concurrentPerform.run() }
        case .syncInside:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.syncInside.run() }
        case .nestsCrosswise:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.nestsCrosswise.run() }
        case .unlocksTwice:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.unlocksTwice.run() }
        case .unlocksOther:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.unlocksOther.run() }
        case .locksInDefer:
            await #expect(processExitsWith: .failure, observing: standardError) { Self.locksInDefer.run() }
        }
    }

    private func run() {
        giveUp(afterSeconds: 120)
        let numbers = Protected(Numbers())
        switch self {
        case .swapsOwnMembers: swap(&numbers.sum, &numbers.one)
        case .sortsByItself: numbers.list.sort { first, second in first + numbers.sum < second }
        case .appendsFromItself:
            let list = Protected([1])
            list.append(contentsOf: (0..<3).lazy.map { $0 + list.count })
        case .observerComesBack: Curious.shared.count += 1
        case .getterComesBack: _ = Curious.shared.half
        case .transitionComesBack: _ = Curious.shared.attemptToTransition(to: Curious())
        case .conditionComesBack: numbers.wait { [numbers] _ in numbers.sum == 0 }
        case .deinitComesBack:
            let last = Protected<Last?>(nil)
            last.wrappedValue = Last { _ = last.wrappedValue }
            // The access ends the object itself; `last.wrappedValue = nil` would end it after the lock.
            last.write { $0 = nil }
        case .closureInValueComesBack:
            let handler = Protected(Handler { 0 })
            handler.wrappedValue = Handler { [handler] in handler.run() }
            _ = handler.write { $0.run() }
        case .concurrentPerform:
            numbers.write { _ in
                // The calling thread takes part in it.
                DispatchQueue.concurrentPerform(iterations: 1) { _ in numbers.sum += 1 }
            }
        case .syncInside: numbers.write { _ in DispatchQueue(label: "inside").sync { numbers.sum += 1 } }
        case .nestsCrosswise:
            let (others, gate) = (Protected(Numbers()), StartGate(count: 2))
            onThreads(2) { index in
                let (outer, inner) = index == 0 ? (numbers, others) : (others, numbers)
                outer.write { _ in
                    gate.pass()
                    inner.write { _ in }
                }
            }
        case .unlocksTwice:
            let lock = PlatformLock()
            lock.around { lock.unlock() }
        case .unlocksOther:
            let lock = PlatformLock()
            lock.lock()
            onThreads(1) { _ in lock.unlock() }
        case .locksInDefer:
            let lock = PlatformLock()
            do {
                lock.lock()
                defer { lock.lock() }
                _ = numbers.sum
            }
        }
    }
}

private struct Numbers: Sendable {
    var sum = 0
    var one = 1
    var list = [0, 0]
}

private struct Handler: Sendable {
    var run: @Sendable () -> Int
}

private struct Stop: Error {}

/// What never goes away.
private enum Forever {
    static let locks = Protected([WordLock]())
}

/// A value that looks at the protected value that it is in, wherever it can.
private struct Curious: Hashable, CustomDebugStringConvertible, Transitionable, Sendable {
    static let shared = Protected(Curious())

    var count = 0 {
        didSet { _ = Self.shared.wrappedValue }
    }

    var half: Int { Self.shared.count / 2 }
    var debugDescription: String { "curious \(Self.shared.count)" }

    static func == (first: Curious, second: Curious) -> Bool { Self.shared.count == 0 }

    func hash(into hasher: inout Hasher) { hasher.combine(Self.shared.count) }

    func canTransition(to next: Curious) -> Bool { Self.shared.count == 0 }
}
