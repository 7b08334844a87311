//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import ThreadSafeValue

/// How far a request has come.
public enum RequestState: Sendable {
    /// Made, not started.
    case initialized
    /// Its tasks run, or will as soon as they are there.
    case resumed
    /// Its tasks pause.
    case suspended
    /// Given up; final.
    case cancelled
    /// Answered, with a response or an error; final.
    case finished
}

extension RequestState: Transitionable {
    /// A first state may go anywhere, a final one nowhere, and none to itself.
    public func canTransition(to next: RequestState) -> Bool {
        switch (self, next) {
        case (.cancelled, _), (.finished, _), (_, .initialized): false
        case (.resumed, .resumed), (.suspended, .suspended): false
        default: true
        }
    }

    var isFinal: Bool { self == .cancelled || self == .finished }
}
