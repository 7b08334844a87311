//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// Every way to change a protected value so that its numbers are `[1]`.
enum Change: String, CaseIterable, Sendable {
    case set, modify, setMember, modifyMember, write, throwing, append, appendMany, transition
    case exchange, withLocked, withMany, tryWrite, writeInTime

    func make(to value: Protected<NumberList>) {
        let new = NumberList(numbers: [1])
        switch self {
        case .set: value.wrappedValue = new
        case .modify: value.wrappedValue.numbers.append(1)
        case .setMember: value.numbers = [1]
        case .modifyMember: value.numbers.append(1)
        case .write: value.write { $0.numbers.append(1) }
        case .throwing:
            try? value.write { value throws(Failed) in
                value.numbers.append(1)
                throw Failed()
            }
        case .append: value.append(1)
        case .appendMany: value.append(contentsOf: [1])
        case .transition: #expect(value.attemptToTransition(to: new))
        case .exchange: #expect(value.exchange(new).numbers == [])
        case .withLocked: ThreadSafeValue.withLocked(Protected(0), value) { $1.numbers.append(1) }
        case .withMany:
            ThreadSafeValue.withLocked(value, Protected(0), Protected("")) { value, _, _ in value.append(1) }
        case .tryWrite: while value.tryWrite({ $0.numbers.append(1) }) == nil {}
        case .writeInTime: #expect(value.write(timeout: .seconds(600)) { $0.numbers.append(1) } != nil)
        }
    }
}

/// A value that all kinds of change suit.
struct NumberList: Sendable, RangeReplaceableCollection, Transitionable {
    var numbers = [Int]()

    init() {}

    init(numbers: [Int]) {
        self.numbers = numbers
    }

    var startIndex: Int { numbers.startIndex }
    var endIndex: Int { numbers.endIndex }

    subscript(position: Int) -> Int { numbers[position] }

    func index(after index: Int) -> Int { index + 1 }

    mutating func replaceSubrange(_ range: Range<Int>, with newElements: some Collection<Int>) {
        numbers.replaceSubrange(range, with: newElements)
    }

    func canTransition(to next: NumberList) -> Bool { true }
}

private struct Failed: Error, Equatable {}
