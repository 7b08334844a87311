//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The end of a manual command: the later of two events, that its closure has returned and that it was completed.
///
/// The user's `done` is the only one to keep this object. When the last copy of an uncalled `done` goes away, so does
/// this, and the command ends as dropped. Only the first ending counts, and the object lets go of everything then.
///
/// `@unchecked Sendable`: the command, which may be of a type that is not `Sendable`, is in `finish`, and whoever calls
/// that has the turn.
final class ManualCompletion: @unchecked Sendable {
    /// How the command ended.
    enum Outcome: Sendable {
        case done
        case dropped
        case failed(any Error)
    }

    private struct State {
        var outcome: Outcome?
        var finish: ((Outcome) -> Void)?
    }

    private let state = Protected(State())

    init() {}

    deinit {
        complete(.dropped)
    }
}

extension ManualCompletion {
    /// How the command has ended, if it has.
    var outcome: Outcome? { state.read { $0.outcome } }

    /// Completes the command; all but the first call do nothing.
    func complete(_ outcome: Outcome) {
        let finish = state.write { state -> ((Outcome) -> Void)? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.finish = nil }
            return state.finish
        }
        finish?(outcome)
    }

    /// The command's closure has thrown: that is how the command ends, whether it was completed before or not.
    func fail(_ error: any Error) {
        state.write { state in state.outcome = .failed(error) }
    }

    /// The command's closure has returned: `finish` is called once, now or when the command is completed.
    func closureReturned(finish: @escaping (Outcome) -> Void) {
        let outcome = state.write { state -> Outcome? in
            if state.outcome == nil { state.finish = finish }
            return state.outcome
        }
        if let outcome { finish(outcome) }
    }
}
