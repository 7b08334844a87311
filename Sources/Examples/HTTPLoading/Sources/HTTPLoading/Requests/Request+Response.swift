//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch

extension Request {
    /// Adds a handler for the response, at any time, before the answer or after it.
    ///
    /// Handlers run once each, one after the other, in the order in which they were added: the next one starts when
    /// the completion of this one has returned.
    ///
    /// - Parameters:
    ///   - queue: Where the completion runs.
    ///   - group: Entered now, and left when the completion has returned.
    ///   - process: Makes something of the response, on the session's concurrent queue; skipped if there is none.
    ///   - completion: Called with what was made, or with why there is nothing.
    /// - Returns: The request.
    @discardableResult
    public func response<Product: Sendable>(
        on queue: DispatchQueue = .main,
        in group: DispatchGroup? = nil,
        process: @escaping @Sendable (HTTPResponse) throws -> Product,
        completion: @escaping @Sendable (Result<Product, HTTPError>) -> Void
    ) -> Request {
        group?.enter()
        whenAnswered { answer, done in
            let product = (answer ?? .failure(.unanswered)).flatMap { response in
                Result { try process(response) }.mapError(HTTPError.processing)
            }
            queue.async {
                completion(product)
                group?.leave()
                done()
            }
        }
        return self
    }

    /// Adds a handler for the response as it is.
    ///
    /// - Parameters:
    ///   - queue: Where the completion runs.
    ///   - group: Entered now, and left when the completion has returned.
    ///   - completion: Called with the response, or with why there is none.
    /// - Returns: The request.
    @discardableResult
    public func response(
        on queue: DispatchQueue = .main,
        in group: DispatchGroup? = nil,
        completion: @escaping @Sendable (HTTPResult) -> Void
    ) -> Request {
        response(on: queue, in: group, process: { $0 }, completion: completion)
    }
}
