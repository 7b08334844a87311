//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Looks for an order of a history's operations in which one thread alone could have got the same answers.
///
/// The order must keep an operation that was answered before another was asked in front of that one. The search is that
/// of Wing and Gong: it takes one of the operations that nothing must precede, and goes on with the rest. Lowe's memory
/// of the sets of operations and states that led nowhere keeps it short. At most 64 operations.
struct LinearizabilityChecker {
    private struct Place: Hashable {
        let taken: UInt64
        let state: PlainNumber
    }

    private let history: [Operation]
    /// For each operation those that must come before it, as bits.
    private let before: [UInt64]
    private var deadEnds: Set<Place> = []
    private var order: [Int] = []

    private init(_ history: [Operation]) {
        precondition(history.count <= 64)
        self.history = history
        before = history.map { operation in
            history.indices.reduce(0) { $0 | (history[$1].end < operation.call ? 1 << UInt64($1) : 0) }
        }
    }

    /// An order that explains a history, or `nil` if there is none.
    static func order(of history: [Operation]) -> [Int]? {
        var checker = LinearizabilityChecker(history)
        return checker.search(taken: 0, state: PlainNumber()) ? checker.order : nil
    }

    private mutating func search(taken: UInt64, state: PlainNumber) -> Bool {
        if order.count == history.count { return true }
        if deadEnds.contains(Place(taken: taken, state: state)) { return false }
        for (index, operation) in history.enumerated() {
            let bit: UInt64 = 1 << UInt64(index)
            var next = state
            guard taken & bit == 0, before[index] & ~taken == 0, next.allows(operation) else { continue }
            order.append(index)
            if search(taken: taken | bit, state: next) { return true }
            order.removeLast()
        }
        deadEnds.insert(Place(taken: taken, state: state))
        return false
    }
}
