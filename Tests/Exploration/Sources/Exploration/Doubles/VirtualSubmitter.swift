//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of who submits commands: the virtual thread, which shares nothing with another. No other thread looks at
/// when it has submitted, so there is no step in it.
struct Submitter {
    private let place: Place

    init(level: UInt64, line: UInt) {
        place = Place(line: line, level: level)
    }

    /// Where what is known of the latest command stands.
    struct Place: Hashable {
        let line: UInt
        let level: UInt64
    }

    var latestArrival: UInt64 { world.current.latestArrivals[place] ?? 0 }

    var identity: UInt32 { UInt32(world.current.index) }

    static func isSame(_ identity: UInt32, _ other: UInt32) -> Bool { identity == other }

    func submits(at arrival: UInt64) {
        world.current.latestArrivals[place] = arrival
    }

    /// No scenario has real tasks.
    static var taskIdentity: UInt64 { 0 }
}
