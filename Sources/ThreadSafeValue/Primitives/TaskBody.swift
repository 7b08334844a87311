//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// An async body that has a turn across suspensions, on whatever threads it and the tasks below it run.
///
/// `@unchecked Sendable`: `place` is an atomic word that the body keeps.
@safe
final class TaskBody: @unchecked Sendable {
    /// The body that this one is in.
    let outer: TaskBody?

    /// The task that awaits this body, which may run in a child: see `Submitter`.
    let submitter = Submitter.taskIdentity

    /// Where the task keeps `innermost` while it runs the body. Zero before and after that: another task may have a copy
    /// of its locals there then.
    private let place: UnsafeMutablePointer<AtomicWord.Storage>

    init() {
        outer = Self.current
        unsafe place = .allocate(capacity: 1)
        unsafe place.initialize(to: AtomicWord.zero)
    }

    deinit {
        unsafe place.deallocate()
    }
}

extension TaskBody {
    /// What the holders of all async bodies have, and no thread has.
    static var flag: UInt64 { 1 << 63 }

    /// The bits of a word in which its holder stands: the identity of a thread, or a body.
    static var holders: UInt64 { flag | addresses }

    /// The bits of an address that tell objects apart. Where the highest eight differ, they are a tag of the memory.
    private static var addresses: UInt64 { 0x00FF_FFFF_FFFF_FFF0 }

    /// The body as the holder of a turn: a number that no other living body or thread has.
    var holder: UInt64 {
        Self.flag | UInt64(UInt(bitPattern: ObjectIdentifier(self))) & Self.addresses
    }

    @TaskLocal private static var innermost: TaskBody?

    /// The innermost body that the current task is part of: the task that runs it, or a child that it awaits.
    ///
    /// A `Task { }` that a body starts inherits the task's locals too, but the body need not await it, so it may wait
    /// for the turn. It has a copy of them, whereas a child looks into those of its parent: the place tells which.
    static var current: TaskBody? {
        guard let body = innermost, unsafe AtomicWord(body.place).load() == placeOfInnermost else { return nil }
        return body
    }

    /// Runs `operation` as this body.
    nonisolated(nonsending) func run<Success: Sendable>(
        _ operation: nonisolated(nonsending) () async -> Success
    ) async -> Success {
        guard isInTaskGroup() else { return await bind(operation) }
        // While a task is in the body of a group, its children get copies too. A child of its own has no group.
        nonisolated(unsafe) let operation = operation
        async let success = unsafe bind(operation)
        return await success
    }

    nonisolated(nonsending) private func bind<Success: Sendable>(
        _ operation: nonisolated(nonsending) () async -> Success
    ) async -> Success {
        await Self.$innermost.withValue(self) {
            unsafe AtomicWord(place).store(Self.placeOfInnermost)
            defer { unsafe AtomicWord(place).store(0) }
            return await operation()
        }
    }

    /// Whether this body has a turn, or one that it is in.
    func isPart(of holder: UInt64) -> Bool {
        // Not one call in the other: bodies may be nested as deeply as memory allows.
        sequence(first: self, next: \.outer).contains { $0.holder == holder }
    }

    private static var placeOfInnermost: UInt64 {
        unsafe UInt64(UInt(bitPattern: taskLocalPlace(unsafeBitCast($innermost, to: UnsafeRawPointer.self))))
    }
}

// What `TaskLocal.get()` calls, inlined into programs, to find the value that it then copies.
@_silgen_name("swift_task_localValueGet")
private func taskLocalPlace(_ key: UnsafeRawPointer) -> UnsafeRawPointer?

@_silgen_name("swift_task_hasTaskGroupStatusRecord")
private func isInTaskGroup() -> Bool
