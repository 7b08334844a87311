//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Adds header fields to the requests that don't have them.
public final class HeaderLoader: HTTPLoader {
    /// Gets the requests with the fields.
    public let nextLoader: (any HTTPLoader)?
    private let headers: [String: String]

    /// Adds these fields.
    public init(_ headers: [String: String], next: any HTTPLoader) {
        self.headers = headers
        nextLoader = next
    }
}

extension HeaderLoader {
    /// Loads the request with the fields.
    public func load(request: URLRequest, completion: @escaping Completion) {
        var request = request
        for (name, value) in headers where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        nextLoader?.load(request: request, completion: completion)
    }
}
