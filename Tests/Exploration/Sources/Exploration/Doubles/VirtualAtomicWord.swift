//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of the library's atomic word: each operation is one step, and other threads may run before it.
///
/// Memory is sequentially consistent, but in scenarios that are about its order: see `Memory`.
@safe
@usableFromInline
struct AtomicWord {
    @usableFromInline
    struct Storage {
        var bits: UInt64
        // What names the word in every execution alike; an address would not.
        var id: UInt64
        var role = Role.other
    }

    enum Role {
        /// The turn word of a value.
        case turn(Int)
        /// It keeps an object, which is made once.
        case object
        case other
    }

    static var zero: Storage { Storage(bits: 0, id: world.newObject()) }

    @usableFromInline
    let storage: UnsafeMutablePointer<Storage>

    @usableFromInline
    init(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe self.storage = storage
    }

    init(firstIn object: AnyObject) {
        let address = unsafe Unmanaged.passUnretained(object).toOpaque() + 2 * MemoryLayout<UInt>.size
        unsafe storage = address.assumingMemoryBound(to: Storage.self)
    }

    var address: UInt { unsafe UInt(bitPattern: storage) }
}

// Not inlined: the optimizer may end the life of an object of the caller, and run its `deinit`, between the look and
// the change.
extension AtomicWord {
    @usableFromInline
    @inline(never)
    func load() -> UInt64 { load("load", acquires: false) }

    @usableFromInline
    @inline(never)
    func loadAcquiring(_ file: StaticString = #fileID, _ line: Int = #line) -> UInt64 {
        load("load acquiring", acquires: !Weakening.acquires(file, line))
    }

    private func load(_ name: StaticString, acquires: Bool) -> UInt64 {
        if isStep { world.pass(.run(name, 0)) }
        return look(acquires: acquires) { _ in true }.bits
    }

    @usableFromInline
    @inline(never)
    func store(_ bits: UInt64) {
        world.pass(.run("store", bits))
        change(to: bits, releasing: View())
    }

    @usableFromInline
    func exchangeAcquiring(
        _ expected: UInt64,
        for desired: UInt64,
        _ file: StaticString = #fileID,
        _ line: Int = #line
    ) -> Bool {
        exchange(expected, for: desired, acquires: !Weakening.acquires(file, line), releases: false)
    }

    @usableFromInline
    func exchangeReleasing(
        _ expected: UInt64,
        for desired: UInt64,
        _ file: StaticString = #fileID,
        _ line: Int = #line
    ) -> Bool {
        exchange(expected, for: desired, acquires: false, releases: !Weakening.releases(file, line))
    }

    @inline(never)
    private func exchange(_ expected: UInt64, for desired: UInt64, acquires: Bool, releases: Bool) -> Bool {
        if isStep { world.pass(.run("exchange", desired)) }
        let isObject = if case .object = unsafe storage.pointee.role { true } else { false }
        // It fails only as the word differs, be it in an old store, and orders nothing then.
        let isNewest = unsafe storage.pointee.bits == expected
        let seen = look(acquires: false) { $0.bits != expected }
        guard isNewest, seen.bits == expected else { return false }
        if isObject, world.memory.isWeak { unsafe world.memory.keeps(desired, storage.pointee.id) }
        if world.memory.isWeak, acquires { world.current.view.join(seen.view) }
        // Whoever acquires the new store acquires what this one follows as well.
        var view = seen.view
        if world.memory.isWeak, releases { view.join(world.current.view) }
        change(to: desired, releasing: view)
        return true
    }

    @inline(never)
    func increment() {
        world.pass(.run("increment", 0))
        change(to: look(acquires: false) { _ in true }.bits + 1, releasing: View())
    }

    /// A word that keeps an object does so once, so but for the order of memory it makes no difference when.
    private var isStep: Bool {
        if case .object = unsafe storage.pointee.role { world.memory.isWeak } else { true }
    }

    /// Looks at the newest store, or at an older one for which `isVisible`.
    private func look(acquires: Bool, _ isVisible: (Place.Store) -> Bool) -> Place.Store {
        let bits = unsafe storage.pointee.bits
        let facts = unsafe storage.pointee.facts(bits)
        var seen = Place.Store(bits: bits, facts: facts, view: View())
        if world.memory.isWeak {
            let place = unsafe world.memory.place(storage.pointee.id, bits, facts)
            let age = world.memory.chooseAge(at: place, isVisible)
            seen = place.stores[place.newest - age]
            if acquires { world.current.view.join(seen.view) }
            world.current.view[place.index] = max(world.current.view[place.index], place.newest - age)
            if age > 0, world.isVerbose { world.log("     sees what is \(age) stores old") }
        }
        if isStep { world.current.observe(seen.facts) }
        if case .turn(let value) = unsafe storage.pointee.role { world.monitor.looked(at: value) }
        if world.isVerbose, isStep { world.log("     finds \(String(seen.bits, radix: 16))") }
        return seen
    }

    private func change(to bits: UInt64, releasing view: View) {
        if world.memory.isWeak {
            let place = unsafe world.memory.place(storage.pointee.id, storage.pointee.bits)
            unsafe place.stores.append(Place.Store(bits: bits, facts: storage.pointee.facts(bits), view: view))
            world.current.view[place.index] = place.newest
        }
        let old = unsafe storage.pointee.bits
        unsafe world.objectChanged(
            storage.pointee.id,
            from: storage.pointee.facts(old),
            to: storage.pointee.facts(bits)
        )
        unsafe storage.pointee.bits = bits
        if case .turn(let value) = unsafe storage.pointee.role {
            world.monitor.turnChanged(of: value, from: TurnWord(bits: old).holder, to: TurnWord(bits: bits).holder)
        }
    }
}

extension AtomicWord.Storage {
    /// The bits, but for the address of an object.
    fileprivate func facts(_ bits: UInt64) -> UInt64 {
        if case .object = role { min(bits, 1) } else { bits }
    }
}

extension AtomicWord {
    /// The object is used.
    static func seen<Object: AnyObject>(_ bits: UInt64) -> Unmanaged<Object> {
        world.memory.uses(bits)
        return unsafe unmanaged(bits)
    }
}

/// The identity of the virtual thread.
@usableFromInline
func currentThreadIdentity() -> UInt64 { world.current.identity }

@usableFromInline
func pauseSpinning() {}

func yieldProcessor() {}

func processorCount() -> Int { 2 }
