//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch
import ThreadSafeValue

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// The end of a chain in a test: answers each request as it was told to, in order.
public final class MockLoader: HTTPLoader {
    /// Answers one request: now, later, on any thread.
    public typealias Answer = @Sendable (_ request: URLRequest, _ completion: @escaping Completion) -> Void

    private struct Script {
        var answers: [Answer] = []
        var requests: [URLRequest] = []
        var resets = 0
    }

    /// There is none.
    public var nextLoader: (any HTTPLoader)? { nil }

    private let script = Protected(Script())

    /// Has no answers yet.
    public init() {}
}

extension MockLoader {
    /// The requests that have come.
    public var requests: [URLRequest] { script.requests }

    /// How often it was reset.
    public var resets: Int { script.resets }

    /// Adds an answer to those for the requests to come.
    public func then(_ answer: @escaping Answer) {
        script.answers.append(answer)
    }

    /// Answers with the next answer, or fails if none is left.
    public func load(request: URLRequest, completion: @escaping Completion) {
        let answer = script.write { script -> Answer? in
            script.requests.append(request)
            return script.answers.isEmpty ? nil : script.answers.removeFirst()
        }
        guard let answer else { return completion(.failure(.endOfChain)) }
        answer(request, completion)
    }

    /// Counts the reset, and forgets the answers that were not used.
    public func reset(with group: DispatchGroup) {
        script.write { script in
            script.resets += 1
            script.answers = []
        }
    }
}
