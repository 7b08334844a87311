//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

// What is measured, in the form that programs have: a value is the member of a final class, and is used once in a
// method that is not inlined, in another module than the loop that calls it. So the compiler can prove nothing that it
// could not prove in a program. The classes beside this file are the forms, ours and the peers'.

/// A form in which a thread adds one to a shared number.
package protocol Changing: Sendable {
    init()
    func change()
    /// The number now.
    var total: Int { get }
}

/// A form in which a thread reads a shared number.
package protocol Reading: Sendable {
    init()
    func read() -> Int
}

/// A form in which a thread works for a while with a shared number to itself.
package protocol Holding: Sendable {
    init()
    func change(for work: Work)
    /// The number now.
    var total: Int { get }
}

/// A form in which a task adds one to a shared number.
package protocol Awaiting: Sendable {
    init()
    func change() async
    /// The number now.
    var total: Int { get async }
}

/// A form in which a thread has a number added to a shared one on a queue, and goes on. The closure captures the number, as
/// nearly each one of a program captures something.
package protocol Submitting: Sendable {
    init(to queue: DispatchQueue)
    func submit(_ amount: Int)
    /// Has a closure called on the queue, behind all that this thread has submitted.
    func submitLast(_ end: @escaping @Sendable () -> Void)
    /// The number now.
    var total: Int { get }
}
