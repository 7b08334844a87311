//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Members

// What code bases did that were moved onto the library: one thread, each form beside its peer.
extension Contest {
    /// The forms of real code that are no other contest's.
    public static let realCode = [
        genericChange, genericSetAndGet, genericMember, wrappedInClass, element, key, part, largeStructure,
        largeChange, twoValues, pools, loneCommand,
    ]

    /// Changing the value of a public generic class of another module.
    public static let genericChange = Contest(
        name: "change in a generic class",
        contestants: [
            Contestant("Protected.write", isOurs: true, changing: GenericProtected.self),
            Contestant("wait.highestPriority.set { }", isOurs: true, changing: GenericQueueSafe.self),
            Contestant("wait.highestPriority.update { }", isOurs: true, changing: GenericQueueSafeUpdate.self),
            Contestant("Mutex", changing: GenericMutex.self),
            Contestant("Mutex, answering with a Result", changing: GenericMutexAnswer.self),
        ],
        settings: [.alone]
    )

    /// Setting and getting the value of a public generic class of another module.
    public static let genericSetAndGet = Contest(
        name: "set and get in a generic class",
        contestants: [
            Contestant("Protected", isOurs: true, reading: GenericProtected.self),
            Contestant("Mutex", reading: GenericMutex.self),
        ],
        settings: [.alone]
    )

    /// The number of elements of a list in a public generic class of another module.
    public static let genericMember = Contest(
        name: "count the elements in a generic class",
        contestants: [
            Contestant("handle.count", isOurs: true, reading: GenericProtectedList.self),
            Contestant("Mutex", reading: GenericMutexList.self),
        ],
        settings: [.alone]
    )

    /// Adding one to a wrapped property of a class, which may replace the handle.
    public static let wrappedInClass = Contest(
        name: "change a wrapped property of a class",
        contestants: [
            Contestant("@Protected count += 1", isOurs: true, changing: WrappedMembers.self),
            Contestant("$model.count += 1", isOurs: true, changing: WrappedModel.self),
            Contestant("Mutex", changing: MutexNumber.self),
        ],
        settings: [.alone]
    )

    /// Adding one to an element of an array.
    public static let element = Contest(
        name: "change an element",
        contestants: [
            Contestant("$list[0] += 1", isOurs: true, changing: WrappedElement.self),
            Contestant("handle[0] += 1", isOurs: true, changing: HandleElement.self),
            Contestant("Mutex", changing: MutexElement.self),
        ],
        settings: [.alone]
    )

    /// Setting the value of a key.
    public static let key = Contest(
        name: "set the value of a key",
        contestants: [
            Contestant("$table[key] = value", isOurs: true, reading: WrappedKey.self),
            Contestant("Mutex", reading: MutexKey.self),
        ],
        settings: [.alone]
    )

    /// Replacing two elements of a million.
    public static let part = Contest(
        name: "replace two elements of a million",
        contestants: [
            Contestant("handle[1...2] = [1, 2]", isOurs: true, reading: HandlePart.self),
            Contestant("Mutex", reading: MutexPart.self),
        ],
        settings: [.alone]
    )

    /// A look at a structure of 136 bytes, six members of which count references.
    public static let largeStructure = Contest(
        name: "read a member of a large structure",
        contestants: [
            Contestant("Protected.read", isOurs: true, reading: ProtectedSession.self),
            Contestant("Mutex", reading: MutexSession.self),
        ],
        settings: [.alone]
    )

    /// Changing one member of a large structure. `set` answers with a copy of the whole structure.
    public static let largeChange = Contest(
        name: "change a member of a large structure",
        contestants: [
            Contestant("wait.highestPriority.set { }", isOurs: true, changing: SetSession.self),
            Contestant("wait.highestPriority.update { }", isOurs: true, changing: UpdateSession.self),
            Contestant("Mutex", changing: MutexSession.self),
        ],
        settings: [.alone]
    )

    /// Changing two values in one step.
    public static let twoValues = Contest(
        name: "change two values at once",
        contestants: [
            Contestant("withLocked, queue-safe", isOurs: true, changing: TwoTurns.self),
            Contestant("withLocked, protected", isOurs: true, changing: TwoLocked.self),
            Contestant("Mutex in Mutex", changing: TwoMutexes.self),
        ],
        settings: [.alone]
    )

    /// Taking one of four connections, using it, and giving it back.
    public static let pools = Contest(
        name: "use one of four connections",
        contestants: [
            Contestant("Protected.write(when:)", isOurs: true, awaiting: ProtectedPool.self),
            Contestant("async.update(when:)", isOurs: true, awaiting: QueueSafePool.self),
            Contestant("actor", awaiting: ActorPool.self),
        ],
        settings: [.eightTasks, .manyTasks]
    )

    /// Submitting a change, and waiting until its completion is called.
    public static let loneCommand = Contest(
        name: "one command, until its completion is called",
        contestants: [
            Contestant("async.set { } completion: { }", isOurs: true, changing: LoneAsyncSet.self),
            Contestant("DispatchQueue.async + lock", changing: LoneBlockWithLock.self),
        ],
        settings: [.alone.leftToSystem]
    )
}
