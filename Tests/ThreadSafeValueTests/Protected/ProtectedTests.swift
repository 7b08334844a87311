//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Protected")
struct ProtectedTests {
    // MARK: Changes through the wrapper

    @Test("+= through the wrapper from four threads loses nothing")
    func wrapperAdds() {
        let model = Model()
        onThreads(4) { _ in
            for _ in 0..<20_000 { model.count += 1 }
        }
        #expect(model.count == 80_000)
    }

    @Test("+= and -= on a handle in a function from four threads lose nothing")
    func handleAdds() {
        let count = Protected(0)
        onThreads(4) { index in
            for _ in 0..<20_000 { count.wrappedValue += index.isMultiple(of: 2) ? 3 : -1 }
        }
        #expect(count.wrappedValue == 80_000)
    }

    @Test("Changes of a nested member through the wrapper from four threads lose nothing")
    func nestedMembers() {
        let model = Model()
        onThreads(4) { index in
            for turn in 0..<2_000 {
                model.state.total += 1
                model.state.names.append("\(index).\(turn)")
                model.state.inner.depth += 2
            }
        }
        #expect(model.state.total == 8_000)
        #expect(Set(model.state.names).count == 8_000)
        #expect(model.state.inner.depth == 16_000)
    }

    @Test("Changes of a dynamic member from four threads lose nothing")
    func dynamicMembers() {
        let state = Protected(State())
        let model = Model()
        onThreads(4) { index in
            for turn in 0..<2_000 {
                state.total += 1
                state.names.append("\(index).\(turn)")
                state.inner.depth += 2
                model.$state.total += 1
            }
        }
        #expect(state.total == 8_000)
        #expect(Set(state.names).count == 8_000)
        #expect(state.inner.depth == 16_000)
        #expect(model.state.total == 8_000)
    }

    @Test("A change takes place under the lock: another thread cannot come in between")
    func changeHoldsTheLock() {
        // `change` keeps the access open while the other thread looks.
        let model = Model()
        func change(_ value: inout Int) {
            #expect(model.$count.isLocked)
            value += 1
        }
        change(&model.count)
        change(&model.$count.wrappedValue)
        #expect(!model.$count.isLocked)

        let state = Protected(State())
        func changeMember(_ value: inout Int) {
            #expect(state.isLocked)
            value += 1
        }
        changeMember(&state.total)
        changeMember(&state.inner.depth)
        #expect(!state.isLocked)
        #expect(model.count == 2)
        #expect(state.total == 1)
    }

    @Test("Changes through the wrapper, a member, write and append are made in place, without a copy")
    func changesInPlace() {
        let state = Protected(State())
        state.names.reserveCapacity(1_000)
        let names = Protected([String]())
        names.write { $0.reserveCapacity(1_000) }
        let before = (state.read { $0.names.address }, names.read { $0.address })
        for _ in 0..<200 {
            state.names.append("a")
            state.write { $0.names.append("b") }
            state.wrappedValue.names.append("c")
            names.wrappedValue.append("d")
            names.append("e")
            names.append(contentsOf: ["f"])
        }
        #expect(before == (state.read { $0.names.address }, names.read { $0.address }))
    }

    @Test("A stored member is changed in place; one with an observer is copied out and in again, but not in write")
    func observedMembers() {
        let lists = Protected(Lists())
        let addresses = lists.read { ($0.stored.address, $0.observed.address) }
        lists.stored[0] = 1
        lists.write { $0.observed[0] = 1 }
        #expect(lists.read { $0.stored.address } == addresses.0)
        #expect(lists.read { $0.observed.address } == addresses.1)
        lists.observed[0] = 2
        #expect(lists.read { $0.observed.address } != addresses.1)
        #expect(lists.stored[0] == 1)
        #expect(lists.observed[0] == 2)
    }

    @Test("An in-place change that throws frees the lock")
    func throwingChange() {
        let state = Protected(State())
        func fail(_ total: inout Int) throws {
            total = 5
            throw Refusal()
        }
        #expect(throws: Refusal.self) { try fail(&state.total) }
        #expect(throws: Refusal.self) { try fail(&state.wrappedValue.total) }
        #expect(!state.isLocked)
        #expect(state.total == 5)
    }

    // MARK: read and write

    @Test("read passes the value, and returns what the closure returns")
    func reads() {
        let state = Protected(State(total: 4))
        #expect(state.read { $0.total * 2 } == 8)
        #expect(state.read { Only(id: $0.total) }.id == 4)
    }

    @Test("read and write hold the lock while the closure runs, on the calling thread")
    func scoped() {
        let number = Protected(1)
        onThreads(2) { _ in
            let here = ThreadID.current
            number.read { _ in
                #expect(number.isLocked)
                #expect(ThreadID.current == here)
            }
            number.write { _ in
                #expect(number.isLocked)
                #expect(ThreadID.current == here)
            }
        }
        #expect(!number.isLocked)
    }

    @Test("write makes several changes in one step: no reader sees only some of them")
    func severalChanges() {
        let pair = Protected((left: 0, right: 0))
        onThreads(4) { index in
            for _ in 0..<5_000 {
                if index < 2 {
                    pair.write { pair in
                        pair.left += 1
                        pair.right -= 1
                    }
                } else {
                    #expect(pair.read { $0.left + $0.right } == 0)
                }
            }
        }
        #expect(pair.left == 10_000)
    }

    @Test("write returns what the closure returns")
    func writes() {
        let number = Protected(1)
        let old = number.write { number in
            defer { number = 9 }
            return number
        }
        #expect(old == 1)
        #expect(number.wrappedValue == 9)
        #expect(number.write { Only(id: $0) }.id == 9)
    }

    @Test("withLock(_:) is another word for write(_:)")
    func withLock() {
        let number = Protected(0)
        onThreads(4) { _ in
            for _ in 0..<5_000 { number.withLock { $0 += 1 } }
        }
        #expect(number.withLock { Only(id: $0) }.id == 20_000)
        do throws(Refusal) {
            try number.withLock { number throws(Refusal) in
                number = 0
                throw Refusal(code: 4)
            }
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == 4)
        }
        #expect(number.wrappedValue == 0)
    }

    @Test("An assignment to the handle's value, or to the wrapped property, replaces the value")
    func replaces() {
        let model = Model()
        model.$count.wrappedValue = 3
        #expect(model.count == 3)
        model.count = 4
        #expect(model.count == 4)
        model.$state.total = 6
        #expect(model.state.total == 6)
    }

    @Test("read and write forward the type of the error, and a throwing closure frees the lock")
    func throwing() {
        let number = Protected(1)
        do throws(Refusal) {
            try number.read { value throws(Refusal) in throw Refusal(code: value) }
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == 1)
        }
        #expect(!number.isLocked)
        do throws(Refusal) {
            try number.write { value throws(Refusal) in
                value = 2
                throw Refusal(code: 7)
            }
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.code == 7)
        }
        #expect(!number.isLocked)
        #expect(number.wrappedValue == 2)
    }
}

// MARK: - What the tests protect

struct State: Sendable {
    struct Inner: Sendable {
        var depth = 0
    }

    var total = 0
    var names = [String]()
    var inner = Inner()
}

struct Model: Sendable {
    @Protected var count = 0
    @Protected var state = State()
}

extension Array {
    /// Where the elements are: another place if the array has been copied.
    fileprivate var address: UInt {
        unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
}

/// A list that is stored, and one that is observed.
private struct Lists: Sendable {
    var stored = Array(0..<1_000)
    var observed = Array(0..<1_000) {
        didSet {}
    }
}
