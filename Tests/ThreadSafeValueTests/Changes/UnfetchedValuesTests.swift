//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing
import ThreadSafeValue

/// Values that nobody has fetched go away at last, in a `deinit` that may wait.
@Suite("What a loop over changes has not fetched holds nobody up as it goes away")
struct UnfetchedValuesTests {
    private final class Element: Sendable {
        private let whenItEnds: @Sendable () -> Void

        init(_ whenItEnds: @escaping @Sendable () -> Void = {}) {
            self.whenItEnds = whenItEnds
        }

        deinit { whenItEnds() }
    }

    @Test(arguments: [false, true])
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func `Nor who cancels the loop, as it goes away in the task`(isProtected: Bool) async throws {
        let executor = QueueExecutor()
        let (begins, hasEnded) = (Door(), Protected(0))
        let (value, protected) = (QueueSafeValue(value: Element()), Protected(Element()))
        let changes =
            isProtected ? protected.changes(buffering: .unbounded) : value.changes(buffering: .unbounded)
        let loop = Task.detached(executorPreference: executor) {
            begins.open()
            for await _ in changes {}
        }
        try await onThreadOfItsOwn {
            begins.waitUntilOpen()
            executor.suspend()
            for _ in 0..<3 {
                let element = Element { hasEnded.write { $0 += 1 } }
                protected.wrappedValue = element
                value.wait.lowestPriority.set(newValue: element)
            }
            loop.cancel()
            #expect(hasEnded.wrappedValue == 0)
            executor.queue.resume()
        }
        await loop.value
        // All but the last, which the values keep.
        try await onThreadOfItsOwn { try poll("they have ended") { hasEnded.wrappedValue == 2 } }
    }

    enum Command: CaseIterable, Sendable {
        case withCompletion
    }

    /// Its `deinit` waits for a value that the caller of the command gives back when it is told.
    @Test(arguments: Command.allCases)
    func `Nor the caller of a command that pushes it out of the buffer`(command: Command) async throws {
        // An async closure that is submitted needs a thread of the pool.
        try await onThreadOfItsOwn {
            let given = QueueSafeValue(value: 0)
            let isOver = Door()
            let value = QueueSafeValue(value: Element())
            let changes = value.changes(buffering: .newest(2))
            value.wait.lowestPriority.set(newValue: Element { given.wait.lowestPriority.set { $0 += 1 } })
            // So that nothing but the buffer keeps that.
            value.wait.lowestPriority.set(newValue: Element())
            let blocker = Blocker(given)
            switch command {
            case .withCompletion:
                value.async(performIn: .global()).lowestPriority.set(newValue: Element()) { _ in blocker.end() }
            }
            DispatchQueue.global().async {
                given.wait.lowestPriority.set { $0 += 1 }
                isOver.open()
            }
            isOver.waitUntilOpen()
            withExtendedLifetime(changes) {}
        }
    }
}
