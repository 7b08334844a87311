//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("The linearizability checker")
struct LinearizabilityCheckerTests {
    private func command(
        _ effect: Effect,
        _ answer: Operation.Answer,
        _ time: ClosedRange<UInt64>,
        seen: Int? = nil
    ) -> ThreadSafeValueTests.Operation {
        Operation(kind: .command(effect), answer: answer, seen: seen, call: time.lowerBound, end: time.upperBound)
    }

    @Test func `Commands that overlap may have run in either order`() {
        for first in [0, 5] {
            let history = [command(.read, .number(first), 1...9), command(.replace(5), .number(5), 2...8)]
            #expect(LinearizabilityChecker.order(of: history) == (first == 0 ? [0, 1] : [1, 0]))
        }
    }

    @Test func `A read after a change must see it`() {
        let change = command(.replace(5), .number(5), 1...2)
        #expect(LinearizabilityChecker.order(of: [change, command(.read, .number(5), 3...4)]) == [0, 1])
        #expect(LinearizabilityChecker.order(of: [change, command(.read, .number(0), 3...4)]) == nil)
    }

    @Test func `Two changes that saw the same number are not explained`() {
        let changes = [1, 2].map { command(.mix($0), .number($0), 1...9, seen: 0) }
        #expect(LinearizabilityChecker.order(of: changes) == nil)
    }

    @Test func `A command that was not carried out changes nothing, and its closure saw nothing`() {
        let read = command(.read, .number(0), 5...6)
        #expect(LinearizabilityChecker.order(of: [command(.replace(1), .nothing, 1...2), read]) != nil)
        #expect(LinearizabilityChecker.order(of: [command(.mix(1), .nothing, 1...2, seen: 0), read]) == nil)
    }

    @Test func `No command takes place while the value is suspended`() {
        let suspend = Operation(kind: .suspend, answer: .done, seen: nil, call: 1, end: 2)
        let resume = Operation(kind: .resume, answer: .done, seen: nil, call: 7, end: 8)
        #expect(LinearizabilityChecker.order(of: [suspend, command(.read, .number(0), 3...6), resume]) == nil)
        #expect(LinearizabilityChecker.order(of: [suspend, command(.read, .number(0), 3...8), resume]) == [0, 2, 1])
        #expect(LinearizabilityChecker.order(of: [resume]) == nil)
    }
}
