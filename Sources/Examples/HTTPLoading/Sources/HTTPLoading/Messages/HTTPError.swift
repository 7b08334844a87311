//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Foundation

/// Why a request has no response.
public enum HTTPError: Error, Sendable {
    /// Somebody cancelled it, or the session went away.
    case cancelled
    /// It came while the loaders were being reset.
    case resetInProgress
    /// The network failed.
    case network(URLError)
    /// There is a response, but it could not be processed.
    case processing(any Error)
    /// No loader of the chain answers requests.
    case endOfChain
    /// It was dropped before it was answered.
    case unanswered
    /// Something else.
    case other(any Error)
}

extension HTTPError {
    init(_ error: any Error) {
        self =
            switch error {
            case let error as HTTPError: error
            case let error as URLError where error.code == .cancelled: .cancelled
            case let error as URLError: .network(error)
            default: .other(error)
            }
    }
}

extension HTTPError: CustomStringConvertible {
    /// A few words for a person.
    public var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .resetInProgress: "refused: a reset is in progress"
        case .network(let error) where HTTPError.awayCodes.contains(error.code): "no server answers there"
        case .network(let error): "network error \(error.code.rawValue): \(error.localizedDescription)"
        case .processing(let error): "the response is not understood: \(error)"
        case .endOfChain: "no loader answers it"
        case .unanswered: "dropped before it was answered"
        case .other(let error): "failed: \(error)"
        }
    }

    private static let awayCodes: Set<URLError.Code> = [
        .cannotConnectToHost, .cannotFindHost, .networkConnectionLost, .notConnectedToInternet, .timedOut,
    ]
}
