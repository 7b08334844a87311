//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Where a scenario runs: under every schedule, or by chance.
public protocol Stage: Sendable {
    func thread<Result>(_ name: String, _ body: @escaping @Sendable () throws -> Result)
    func task<Result>(_ name: String, _ body: @escaping @Sendable () async throws -> Result)
    func cancel(_ name: String)
    func check(_ name: String, _ isTrue: @escaping @Sendable () throws -> Bool)
}

/// A mistake in a program that uses the library, and the same program without it.
public struct Fault: Sendable, CustomStringConvertible {
    /// What the mistake is.
    public let description: String

    /// What a failure says, in its first line.
    public let says: String

    /// Whether only tasks make the mistake.
    public var isOfTasks: Bool { taskFaults.contains { $0.description == description } }

    /// Sets the scene.
    ///
    /// The second argument tells whether the mistake is made.
    public let scene: @Sendable (any Stage, Bool) -> Void

    init(_ name: String, says: String, _ scene: @escaping @Sendable (any Stage, _ isWrong: Bool) -> Void) {
        (description, self.says, self.scene) = (name, says, scene)
    }

    /// One for each form of the library.
    public static let all = protectedFaults + lockFaults + turnFaults + taskFaults
}
