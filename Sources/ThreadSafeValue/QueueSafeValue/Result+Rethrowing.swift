//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Result where Failure == QueueSafeValueError {
    /// Returns the answer of a command, or throws the error that its closure threw.
    ///
    /// ```swift
    /// do {
    ///     try page.wait.lowestPriority.set { try $0.load() }.getOrRethrow()
    /// } catch let error as NetworkDown {
    ///     retry(after: error)
    /// }
    /// ```
    ///
    /// - Returns: The answer.
    /// - Throws: The error of the closure, without ``QueueSafeValueError/unexpected(error:)`` around it; or the failure
    ///   of the command itself.
    @inlinable @discardableResult public func getOrRethrow() throws -> Success {
        // No `catch .unexpected(let error)`: Swift 6.2 stumbles over it.
        if case .failure(.unexpected(let error)) = self { throw error }
        return try get()
    }
}
