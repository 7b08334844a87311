//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import HTTPLoading
import ThreadSafeValue

struct TookTooLong: Error {}

/// Waits until something calls back, but not for longer than a minute. No thread waits: the server needs them.
func callback<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let pending = Protected<CheckedContinuation<Value, any Error>?>(continuation)
        let finish: @Sendable (Result<Value, any Error>) -> Void = { result in
            // The first one takes it.
            let continuation = pending.write { pending in
                defer { pending = nil }
                return pending
            }
            continuation?.resume(with: result)
        }
        start { finish(.success($0)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { finish(.failure(TookTooLong())) }
    }
}

extension DispatchGroup {
    /// Waits until everybody has left.
    func wait() async throws {
        try await callback { done in notify(queue: .global()) { done(()) } }
    }
}

extension HTTPResult {
    /// Status and body, or the error in words.
    var summary: String {
        switch self {
        case .success(let response): "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
        case .failure(let error): error.description
        }
    }
}
