//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

/// What happens when a protected value is used wrongly. Each in a process of its own, which must crash, and not hang.
@Suite("Mistakes with a protected value crash with a message")
struct ProtectedMistakeTests {
    @Test(
        "A closure that comes back to its own value by any access crashes and doesn't hang",
        arguments: Access.allCases
    )
    func comesBack(access: Access) async throws {
        #expect(try #require(await access.end()).crashMessage.namesTheSecondLock)
    }

    @Test("So does one that comes back through a copy of the handle")
    func comesBackThroughCopy() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let number = Protected(1)
            let copy = number
            _ = number.read { _ in copy.read { $0 } }
        }
        #expect(result.crashMessage.namesTheSecondLock)
    }

    @Test("So does an in-place change that comes back")
    func comesBackInPlace() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let model = Model()
            func change(_ count: inout Int) { model.count = 5 }
            change(&model.count)
        }
        #expect(result.crashMessage.namesTheSecondLock)
    }

    @Test("So does the right side behind a `?`, which is evaluated in the access")
    func comesBackBehindOptional() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let shelf = Protected(Shelf(lent: 1))
            shelf.lent? += shelf.books
        }
        #expect(result.crashMessage.namesTheSecondLock)
    }

    @Test("So do two `&` of one call, and the message names them")
    func comesBackInOneCall() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let pair = Protected(Pair())
            swap(&pair.first, &pair.second)
        }
        #expect(result.crashMessage.namesTheSecondLock)
        #if !canImport(Darwin)
        #expect(result.crashMessage.contains("`swap(&p.a, &p.b)`"))
        #endif
    }

    @Test("An access held over a suspension that ends on another thread crashes, and names the `await`")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func heldOverSuspension() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            await Wanderer().change(Model())
        }
        #if canImport(Darwin)
        #expect(result.crashMessage != "It hung.")
        #else
        #expect(result.crashMessage.contains("Was the lock held across an `await`?"))
        #endif
    }
}

private struct Pair: Sendable {
    var first = 1
    var second = 2
}

/// Every way to reach a protected value.
enum Access: CaseIterable, Sendable {
    case get, set, modify, member, writableMember, setMember, modifyMember, read, write, append
    case compare, compareWithItself, hash, transition, exchange, writeInTime, writeWheneverPossible, wait
    case waitInTime, withTwo, withThree

    /// How a process ends that does so inside an access.
    fileprivate func end() async -> ExitTest.Result? {
        switch self {
        case .get:
            await #expect(processExitsWith: .failure, observing: standardError) { comeBack { _ = $0.wrappedValue } }
        case .set:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { $0.wrappedValue = Numbers() }
            }
        case .modify:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { $0.wrappedValue.append(1) }
            }
        case .member: await #expect(processExitsWith: .failure, observing: standardError) { comeBack { _ = $0.count } }
        case .writableMember:
            await #expect(processExitsWith: .failure, observing: standardError) { comeBack { _ = $0.elements } }
        case .setMember:
            await #expect(processExitsWith: .failure, observing: standardError) { comeBack { $0.elements = [1] } }
        case .modifyMember:
            await #expect(processExitsWith: .failure, observing: standardError) { comeBack { $0.elements.append(1) } }
        case .read:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in value.read { _ in } }
            }
        case .write:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in value.write { _ in } }
            }
        case .append: await #expect(processExitsWith: .failure, observing: standardError) { comeBack { $0.append(1) } }
        case .compare:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { _ = $0 == Protected(Numbers()) }
            }
        case .compareWithItself:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { _ = $0 == $0.projectedValue }
            }
        case .hash:
            await #expect(processExitsWith: .failure, observing: standardError) { comeBack { _ = $0.hashValue } }
        case .transition:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { _ = $0.attemptToTransition(to: Numbers()) }
            }
        case .exchange:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { _ = $0.exchange(Numbers()) }
            }
        case .writeInTime:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in _ = value.write(timeout: .seconds(600)) { _ in } }
            }
        case .writeWheneverPossible:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in _ = value.write(timeout: .never) { _ in } }
            }
        case .wait:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in value.wait { _ in true } }
            }
        case .waitInTime:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in _ = value.wait(until: { _ in true }, timeout: .seconds(600)) }
            }
        case .withTwo:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in withLocked(Protected(0), value) { _, _ in } }
            }
        case .withThree:
            await #expect(processExitsWith: .failure, observing: standardError) {
                comeBack { value in withLocked(Protected(0), value, Protected(1)) { _, _, _ in } }
            }
        }
    }
}

private func comeBack(_ access: (Protected<Numbers>) -> Void) {
    giveUp(afterSeconds: 120)
    let value = Protected(Numbers())
    value.write { _ in access(value) }
}

/// A value that has all that ``Protected`` has extensions for.
private struct Numbers: Sendable, Hashable, RangeReplaceableCollection, Transitionable {
    var elements = [Int]()

    var startIndex: Int { elements.startIndex }
    var endIndex: Int { elements.endIndex }

    subscript(position: Int) -> Int { elements[position] }

    func index(after index: Int) -> Int { index + 1 }

    mutating func replaceSubrange(_ range: Range<Int>, with newElements: some Collection<Int>) {
        elements.replaceSubrange(range, with: newElements)
    }

    func canTransition(to next: Numbers) -> Bool { true }
}

extension String {
    fileprivate var namesTheSecondLock: Bool {
        #if canImport(Darwin)
        self != "It hung."  // The system's crash says it in its own words, and not on standard error.
        #else
        contains("takes a lock that it already holds: Protected<")
        #endif
    }
}

/// An actor whose every step runs on a new thread, while the older ones stay alive.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
private actor Wanderer {
    private final class Executor: SerialExecutor {
        func enqueue(_ job: UnownedJob) {
            let executor = unsafe asUnownedSerialExecutor()
            Thread {
                unsafe job.runSynchronously(on: executor)
                Door().waitUntilOpen()
            }.start()
        }
    }

    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func change(_ model: Model) async {
        await addAfterSuspending(&model.count)
    }
}

private func addAfterSuspending(_ count: inout Int) async {
    await Task { await Task.yield() }.value
    count += 1
}
