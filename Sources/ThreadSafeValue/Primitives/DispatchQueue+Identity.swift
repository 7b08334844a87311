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

extension DispatchQueue {
    private static let mainKey = {
        let key = DispatchSpecificKey<Bool>()
        main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the calling thread keeps the main queue from running.
    static var isMain: Bool { getSpecific(key: mainKey) == true }
}
