//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch

extension DispatchQueue {
    /// A number that is the same for all objects that stand for one queue.
    var identity: UInt {
        #if canImport(ObjectiveC)
        unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        #else
        // `DispatchQueue.main` and `.global()` make a new object at each call. Without this, commands for them would
        // have a lane each.
        // fault: a queue in two objects has two lanes
        Self.handlesAreReadable ? handle : unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        #endif
    }

    #if !canImport(ObjectiveC)
    /// The queue itself, which is all that an object stores.
    private var handle: UInt {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()).load(
            fromByteOffset: 2 * MemoryLayout<UInt>.size,
            as: UInt.self
        )
    }

    /// Whether objects are laid out as `handle` expects: it tells queues apart, and knows a queue in two objects.
    private static let handlesAreReadable: Bool = {
        let queues = [main, global(), global(qos: .background), DispatchQueue(label: "")].map(\.handle)
        return main.handle == queues[0] && global().handle == queues[1] && Set(queues).count == queues.count
    }()
    #endif
}

/// The blocks of a queue find this once a lane of the queue was late (rule 5).
final class OwnQueue: @unchecked Sendable {
    // First, so that its address is known.
    private var bits = AtomicWord.zero

    let identity: UInt

    init(_ identity: UInt, passes: UInt64) {
        self.identity = identity
        self.passes.store(passes)
    }

    /// How often its lanes may be passed before one is waited for again. Values share it without a lock: it is a hint.
    var passes: AtomicWord { AtomicWord(firstIn: self) }
}

extension DispatchQueue {
    private static let ownKey = {
        let key = DispatchSpecificKey<OwnQueue>()
        main.setSpecific(key: key, value: OwnQueue(main.identity, passes: .max))
        return key
    }()

    private static let globalIdentities = Set(
        [DispatchQoS.QoSClass.background, .utility, .default, .userInitiated, .userInteractive, .unspecified].map {
            global(qos: $0).identity
        }
    )

    private static let mainKey = {
        let key = DispatchSpecificKey<Void>()
        main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the calling thread runs a block of the main queue, or of a queue that targets the main queue.
    static var isMain: Bool { getSpecific(key: mainKey) != nil }

    /// Lets blocks of this queue find it from now on; not those of a global queue, which has other threads.
    func becomeOwn() {
        if getSpecific(key: Self.ownKey) != nil || Self.globalIdentities.contains(identity) { return }
        setSpecific(key: Self.ownKey, value: OwnQueue(identity, passes: 0))
    }

    /// The queue whose block the calling thread runs, if a lane of it was late.
    static var own: OwnQueue? { getSpecific(key: ownKey) }
}
