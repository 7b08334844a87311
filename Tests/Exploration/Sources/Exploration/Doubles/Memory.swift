//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

// Memory as C11 describes it, without what would read from the future: a word keeps the history of its stores, and a load
// may see an older one, unless the thread has seen a newer one, or what it has acquired has.

/// How much of each history has been seen: the number of a store, by the index of the place.
struct View {
    private var numbers: [Int] = []

    subscript(index: Int) -> Int {
        get { index < numbers.count ? numbers[index] : 0 }
        set {
            while numbers.count <= index { numbers.append(0) }
            numbers[index] = newValue
        }
    }

    mutating func join(_ other: View) {
        for (index, number) in other.numbers.enumerated() where number > self[index] { self[index] = number }
    }
}

/// An atomic word; or a variable without an order, of which only the number of accesses matters.
final class Place {
    struct Store {
        let bits: UInt64
        let facts: UInt64
        /// What a load sees that acquires this.
        let view: View
    }

    let id: UInt64
    let index: Int
    let isPlain: Bool
    var stores: [Store]

    init(_ id: UInt64, _ index: Int, isPlain: Bool, _ first: Store) {
        (self.id, self.index, self.isPlain, stores) = (id, index, isPlain, [first])
    }

    var newest: Int { stores.count - 1 }
}

final class Memory {
    /// Whether the scenario is about the order of memory.
    let isWeak: Bool
    /// How many loads may still see an old store.
    private var staleLoads: Int
    private var places: [Place] = []
    private var placesByID: [UInt64: Place] = [:]
    /// What locks, semaphores and the like hand on.
    private var views: [UInt64: View] = [:]
    /// The objects that words keep, by their addresses.
    private var objects: [UInt64: UInt64] = [:]

    init(staleLoads: Int?) {
        (isWeak, self.staleLoads) = (staleLoads != nil, staleLoads ?? 0)
    }
}

extension Memory {
    func place(_ id: UInt64, isPlain: Bool = false, _ bits: UInt64 = 0, _ facts: UInt64 = 0) -> Place {
        if let place = placesByID[id] { return place }
        let first = Place.Store(bits: bits, facts: facts, view: View())
        let place = Place(id, places.count, isPlain: isPlain, first)
        places.append(place)
        placesByID[id] = place
        return place
    }

    /// How old a store the calling thread sees: 0 for the newest. Of the others it may see those for which `isVisible`.
    func chooseAge(at place: Place, _ isVisible: (Place.Store) -> Bool) -> Int {
        let oldest = world.current.view[place.index]
        guard staleLoads > 0, world.current !== world.outside, oldest < place.newest else { return 0 }
        let visible = (oldest..<place.newest).reversed().filter { isVisible(place.stores[$0]) }
        guard !visible.isEmpty else { return 0 }
        let choice = world.chooser.choose(visible.count + 1, staying: false, kind: 2)
        if choice == 0 { return 0 }
        staleLoads -= 1
        return place.newest - visible[choice - 1]
    }

    /// What is released to `id` by one thread is seen by the next that acquires it.
    func release(_ id: UInt64) {
        if isWeak { views[id, default: View()].join(world.current.view) }
    }

    func acquire(_ id: UInt64) {
        if isWeak, let view = views[id] { world.current.view.join(view) }
    }

    /// An access without an order: all that came before must have been seen, by a read all but other reads.
    func access(_ id: UInt64, isRead: Bool = false, _ what: StaticString) {
        guard isWeak else { return }
        let place = place(id, isPlain: true)
        if world.current !== world.outside, world.current.view[place.index] < place.newest {
            world.fail("a race: \(world.current.name) has not seen the last access to \(what)")
        }
        if !isRead { change(id) }
    }

    /// A change whose number each later one sees.
    func change(_ id: UInt64) {
        guard isWeak else { return }
        let place = place(id, isPlain: true)
        place.stores.append(place.stores[0])
        world.current.view[place.index] = place.newest
    }

    /// Whether a thread must see the last change.
    func isSeen(_ id: UInt64, by thread: VirtualThread) -> Bool {
        guard isWeak else { return true }
        let place = place(id, isPlain: true)
        return thread.view[place.index] == place.newest
    }

    /// A word is about to keep a new object.
    func keeps(_ object: UInt64, _ id: UInt64) {
        objects[object] = mix(id, 1)
        access(mix(id, 1), "a new object")
    }

    /// A thread uses an object that a word keeps.
    func uses(_ object: UInt64) {
        guard isWeak, let id = objects[object], let place = placesByID[id] else { return }
        if world.current.view[place.index] < 1 { world.fail("a race: an object is used before it is seen") }
    }

    /// The last owner of something sees all that the others have done, as it counts the references.
    func becomeLastOwner() -> View {
        let view = world.current.view
        for place in places { world.current.view[place.index] = place.newest }
        return view
    }

    /// Everything that later loads depend on, in one number, whatever came before.
    var state: UInt64 {
        let ages = places.map { place in
            place.isPlain ? 1 : world.threads.map { place.newest - $0.view[place.index] }.max() ?? 0
        }
        func hash(_ view: View) -> UInt64 {
            places.reduce(0) { sum, place in
                let age = min(place.newest - view[place.index], ages[place.index])
                return age == 0 ? sum : sum &+ mix(place.id, UInt64(age))
            }
        }
        var sum = UInt64(staleLoads)
        for thread in world.threads where !thread.isFinished { sum &+= mix(UInt64(thread.index), hash(thread.view)) }
        for (id, view) in views { sum &+= mix(id, hash(view)) }
        for place in places where !place.isPlain {
            for age in 0...ages[place.index] {
                let store = place.stores[place.newest - age]
                sum &+= mix(mix(place.id, UInt64(age)), mix(store.facts, hash(store.view)))
            }
        }
        return sum
    }
}

/// A stored property of the library that is no atomic word: whoever uses it must have seen the last change.
@propertyWrapper
struct Plain<Value> {
    private var value: Value
    private let id = world.newObject()

    init(wrappedValue: Value) {
        value = wrappedValue
    }

    init() where Value: ExpressibleByNilLiteral {
        value = nil
    }

    var wrappedValue: Value {
        get {
            world.memory.access(id, isRead: true, "a plain property")
            return value
        }
        set {
            world.memory.access(id, "a plain property")
            value = newValue
        }
    }
}

/// One order of memory that is left out, to see that it is missed: `EXPLORE_WEAKEN='WordLock.swift:N acquire'`.
enum Weakening {
    private static let parts = ProcessInfo.processInfo.environment["EXPLORE_WEAKEN"]?.split { ": ".contains($0) } ?? []
    private static let line = parts.count == 3 ? Int(parts[1]) : nil

    static func acquires(_ file: StaticString, _ line: Int) -> Bool { isLeftOut("acquire", file, line) }

    static func releases(_ file: StaticString, _ line: Int) -> Bool { isLeftOut("release", file, line) }

    private static func isLeftOut(_ order: String, _ file: StaticString, _ line: Int) -> Bool {
        line == self.line && parts[2] == order && "\(file)".hasSuffix(parts[0])
    }
}
