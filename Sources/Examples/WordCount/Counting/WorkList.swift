//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// What is left to do; several threads take from it.
struct WorkList<Item: Sendable>: Sendable {
    // The last item is the next, as taking the last of an array moves no others.
    @Protected private var rest: [Item]

    init(_ items: [Item]) {
        rest = items.reversed()
    }
}

extension WorkList {
    /// Takes the next item; no other thread gets the same.
    ///
    /// To look and to take is one step, and its result comes out of the closure.
    func next() -> Item? {
        $rest.write { $0.popLast() }
    }
}
