//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine

/// One way to do what others in its `Contest` do differently.
public struct Contestant: Sendable {
    /// How reports call it.
    public let name: String

    /// Whether it is this library, or something else.
    public let isOurs: Bool

    /// How many operations to do between two looks at the clock; `nil` for as many as suit the clock.
    public let batch: Int?

    /// Makes a value that nobody has used, for one round.
    public let prepare: @Sendable (Setting) -> Round

    init(
        _ name: String,
        isOurs: Bool = false,
        batch: Int? = nil,
        prepare: @escaping @Sendable (Setting) -> Round
    ) {
        self.name = name
        self.isOurs = isOurs
        self.batch = batch
        self.prepare = prepare
    }
}

/// A value, and what to do with it.
public struct Round: Sendable {
    /// Does so many operations, and returns when all of them have had their effect. Called on many threads at once.
    ///
    /// The loop is inside, in the code that the compiler makes of the library for this module.
    public let run: @Sendable (_ operations: Int) -> Void

    /// How many changes the value has seen, if operations change it: none may be lost.
    public let changes: (@Sendable () -> Int)?

    init(run: @escaping @Sendable (Int) -> Void, changes: (@Sendable () -> Int)? = nil) {
        self.run = run
        self.changes = changes
    }
}

/// Contestants that do the same, one after the other in each round.
public struct Contest: Sendable {
    /// How reports call it.
    public let name: String

    /// Who takes part.
    public let contestants: [Contestant]

    /// Where it is held.
    public let settings: [Setting]
}

/// Uses a number, so that the compiler cannot leave out what it is made of.
public func use(_ number: Int) {
    machine_use(Int64(number))
}
