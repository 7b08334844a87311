//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Members

extension Contest {
    /// Adding one to a shared number, and going on when it is done.
    public static let changes = Contest(
        name: "change",
        contestants: [
            Contestant("Protected.write", isOurs: true, changing: ProtectedNumber.self),
            Contestant("@Protected count += 1", isOurs: true, changing: WrappedNumber.self),
            Contestant("$model.count += 1", isOurs: true, changing: MemberOfModel.self),
            Contestant("wait.highestPriority.set { }", isOurs: true, changing: HighestPriority.self),
            Contestant("wait.lowestPriority.set { }", isOurs: true, changing: LowestPriority.self),
            Contestant("QueueSafeSyncedValue: set { }", isOurs: true, changing: Synced.self),
            Contestant("a global: set { }", isOurs: true, changing: GlobalValue.self),
            Contestant("kept commands: set { }", isOurs: true, changing: KeptCommands.self),
            Contestant("wait(timeout:): set { }", isOurs: true, changing: TimedWait.self),
            Contestant("set { current, done in }", isOurs: true, changing: ManualCompletion.self),
            Contestant("Mutex", changing: MutexNumber.self),
            Contestant("a global Mutex", changing: GlobalMutex.self),
            Contestant("NIOLockedValueBox", changing: NIONumber.self),
            Contestant("NSLock", changing: NSLockNumber.self),
            Contestant("DispatchQueue.sync", changing: SerialQueueNumber.self),
        ],
        settings: [.alone] + Setting.pair.placements + Setting.crowd.placements
    )

    /// Reading a shared number.
    public static let reads = Contest(
        name: "read",
        contestants: [
            Contestant("Protected.read", isOurs: true, reading: ProtectedNumber.self),
            Contestant("@Protected count", isOurs: true, reading: WrappedNumber.self),
            Contestant("wait.highestPriority.get()", isOurs: true, reading: HighestPriority.self),
            Contestant("wait.lowestPriority.get()", isOurs: true, reading: LowestPriority.self),
            Contestant("QueueSafeSyncedValue: get()", isOurs: true, reading: Synced.self),
            Contestant("a global: get()", isOurs: true, reading: GlobalValue.self),
            Contestant("kept commands: get()", isOurs: true, reading: KeptCommands.self),
            Contestant("wait.highestPriority.map { }", isOurs: true, reading: Mapped.self),
            Contestant("Mutex", reading: MutexNumber.self),
            Contestant("a global Mutex", reading: GlobalMutex.self),
            Contestant("NIOLockedValueBox", reading: NIONumber.self),
            Contestant("NSLock", reading: NSLockNumber.self),
            Contestant("DispatchQueue.sync", reading: SerialQueueNumber.self),
        ],
        settings: [.alone] + Setting.pair.placements + Setting.crowd.placements
    )

    /// Reading an entry of a shared dictionary.
    public static let lookups = Contest(
        name: "read a dictionary entry",
        contestants: [
            Contestant("Protected.read { $0[key] }", isOurs: true, reading: ProtectedEntry.self),
            Contestant("Mutex", reading: MutexEntry.self),
            Contestant("NIOLockedValueBox", reading: NIOEntry.self),
        ],
        settings: [.alone]
    )

    /// Submitting many changes without waiting for each, then waiting until all of them are done on a serial queue.
    public static let submissions = Contest(
        name: "submit",
        contestants: [
            Contestant("async.set { }", isOurs: true, submitting: AsyncSet.self),
            Contestant("async.set { } completion: { }", isOurs: true, submitting: AsyncSetCompletion.self),
            Contestant("async.set { current, done in }", isOurs: true, submitting: AsyncSetDone.self),
            Contestant("DispatchQueue.async + lock", submitting: BlockWithLock.self),
            Contestant("DispatchQueue.async + lock, completion", submitting: BlockWithLockCompletion.self),
            Contestant("Task + actor", submitting: TaskOnActor.self),
        ],
        settings: Setting.alone.placements + Setting.pair.placements
    )

    /// Adding one to a shared number in a task.
    public static let awaits = Contest(
        name: "await",
        contestants: [
            Contestant("await value.async.highestPriority.set { }", isOurs: true, awaiting: AwaitedSet.self),
            Contestant("actor", awaiting: ActorNumber.self),
        ],
        settings: [.oneTask, .eightTasks]
    )

    /// Changing a number that is held for a microsecond, again and again.
    public static let held1 = holding("held 1 µs, no pause", for: 1_000, pausing: 0, in: .pair)

    /// The same with pauses, in which others have it.
    public static let held64 = holding("held 1 µs, 10 µs between", for: 1_000, pausing: 10_000, in: .multitude)

    /// Changing a number, with pauses.
    public static let heldForNothing = holding("held for nothing, 1 µs between", for: 0, pausing: 1_000, in: .multitude)

    private static func holding(
        _ name: String,
        for held: Double,
        pausing pause: Double,
        in setting: Setting
    ) -> Contest {
        Contest(
            name: name,
            contestants: [
                Contestant("Protected.write", isOurs: true, holding: ProtectedNumber.self, for: held, pausing: pause),
                Contestant(
                    "wait.highestPriority.set { }",
                    isOurs: true,
                    holding: HighestPriority.self,
                    for: held,
                    pausing: pause
                ),
                Contestant("Mutex", holding: MutexNumber.self, for: held, pausing: pause),
                Contestant("NIOLockedValueBox", holding: NIONumber.self, for: held, pausing: pause),
            ],
            settings: setting.placements
        )
    }
}
