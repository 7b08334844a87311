//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Foundation

/// What comes back for a request: the response, or why there is none.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

/// A server's answer, whatever its status is.
public struct HTTPResponse: Sendable, Equatable {
    /// The status code: 200 and so on.
    public var status: Int
    /// The header fields; their names are in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: Data

    /// Makes up a response.
    public init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
