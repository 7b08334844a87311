//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// A command with a completion, perhaps.
@usableFromInline struct ToldCommand<Body, Told>: SubmittedCommand {
    @usableFromInline typealias Completion = (Result<Told, QueueSafeValueError>) -> Void

    /// What runs: a closure, or a new value.
    @usableFromInline var body: Body?

    @usableFromInline var completion: Completion?

    /// What the completion gets.
    @usableFromInline var result: Result<Told, QueueSafeValueError>?

    @inlinable init(_ body: Body, _ completion: Completion?) { (self.body, self.completion) = (body, completion) }

    @inlinable mutating func fail(_ error: QueueSafeValueError) -> Notification? {
        result = .failure(error)
        return completion.map { completion in Notification { completion(.failure(error)) } }
    }

    @inlinable mutating func tell() {
        body = nil
        if let completion = completion.take(), let result = result.take() { completion(result) }
    }
}

// A closure as the argument of a generic type would be one more object, so each kind has a structure of its own.

/// A closure that changes the value. By itself it is a command of which nobody is told.
@usableFromInline struct ChangeClosure<Value>: SubmittedCommand {
    @usableFromInline let call: (inout Value) throws -> Void

    @inlinable init(_ call: @escaping (inout Value) throws -> Void) { self.call = call }

    @inlinable func fail(_ error: QueueSafeValueError) -> Notification? { nil }

    @inlinable func tell() {}
}

/// The closure of a `get`, which is told during the turn.
@usableFromInline struct GetClosure<Value>: SubmittedCommand {
    @usableFromInline let call: (Result<Value, QueueSafeValueError>) -> Void

    @inlinable init(_ call: @escaping (Result<Value, QueueSafeValueError>) -> Void) { self.call = call }

    @inlinable func fail(_ error: QueueSafeValueError) -> Notification? { Notification { call(.failure(error)) } }

    @inlinable func tell() {}
}

/// A closure that changes the value and computes an answer.
@usableFromInline struct AnswerClosure<Value, Answer> {
    @usableFromInline let call: (inout Value) throws -> Answer

    @inlinable init(_ call: @escaping (inout Value) throws -> Answer) { self.call = call }
}

/// A closure whose command is over when `done` is called.
@usableFromInline struct ManualClosure<Value> {
    @usableFromInline let call: (inout Value, @escaping CommandCompletionClosure) throws -> Void

    @inlinable
    init(_ call: @escaping (inout Value, @escaping CommandCompletionClosure) throws -> Void) { self.call = call }
}

extension ToldCommand {
    /// The ending of a command after which the completion, if there is one, gets the value.
    @inlinable @_transparent
    mutating func ending(of result: Result<Void, QueueSafeValueError>, in queue: CommandQueue<Told>) -> CommandEnding {
        // Without a completion there is no copy, which would make the next change copy the value.
        if completion != nil { self.result = result.map { unsafe queue.value.pointee } }
        return CommandEnding(isChange: true, tells: completion != nil, failure: result.failure)
    }
}

extension ToldCommand where Body == ManualClosure<Told> {
    /// Runs a command that has the turn until it is completed.
    @inlinable @_transparent mutating func hold(in queue: CommandQueue<Told>, isChange: Bool) -> CommandEnding {
        var end: ManualCompletion?
        var ending = ending(of: queue.hold(&end, body!.call), in: queue)
        ending.isChange = isChange
        guard let end else { return ending }
        // The closure goes away without the turn, once `done` can end the command. What it captured may keep `done`, which
        // would never be found to be dropped.
        let closure = body.take()  // fault: a capture keeps done
        ending.detach = { complete in
            end.closureReturned(complete)
            withExtendedLifetime(closure) {}
        }
        return ending
    }
}
