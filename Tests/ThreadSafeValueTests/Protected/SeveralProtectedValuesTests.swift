//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing

@testable import ThreadSafeValue

@Suite("Several protected values at once")
struct SeveralProtectedValuesTests {
    @Test("Values of any types are changed in place, in the order given")
    func inOrder() {
        let (number, text, list, flag) = (Protected(1), Protected("a"), Protected([1.5]), Protected(false))
        withLocked(number, text) { number, text in
            number += 1
            text += "b"
        }
        withLocked(list, number, text) { list, number, text in
            list.append(2.5)
            number += 1
            text += "c"
        }
        let sum = withLocked(flag, number, list) { flag, number, list in
            flag.toggle()
            return Double(number) + list.reduce(0, +)
        }
        #expect(sum == 7)
        #expect(number.wrappedValue == 3)
        #expect(text.wrappedValue == "abc")
        #expect(list.wrappedValue == [1.5, 2.5])
        #expect(flag.wrappedValue)
    }

    @Test("Closures of one expression compile")
    func oneExpression() {
        let (one, two, three) = (Protected(1), Protected(2), Protected(3))
        #expect(withLocked(one, two) { $0 + $1 } == 3)
        #expect(withLocked(one, two, three) { $0 + $1 + $2 } == 6)
        #expect(withLocked([one, two, three]) { $0.reduce(0, +) } == 6)
        withLocked(one, three) { swap(&$0, &$1) }
        #expect(one.wrappedValue == 3)
        #expect(one.isSame(as: one.projectedValue))
        #expect(!one.isSame(as: Protected(3)))
    }

    @Test("A list of values is changed in place, as one array, and listeners hear of each")
    func list() async {
        let accounts = (0..<5).map { Protected(Array($0..<1_000)) }
        let addresses = accounts.map { $0.read(\.address) }
        let changes = accounts[3].changes()
        let sum = withLocked(accounts) { accounts in
            accounts[0][0] -= 10
            accounts[3][0] += 10
            return accounts.reduce(0) { $0 + $1[0] }
        }
        #expect(sum == 10)
        #expect(accounts[0].first == -10)
        #expect(accounts[3].first == 13)
        #expect(accounts.map { $0.read(\.address) } == addresses)
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.first == 13)
        #expect(withLocked([Protected<Int>]()) { $0.count } == 0)
        #expect(throws: Failed()) {
            try withLocked(accounts) { accounts throws(Failed) in
                accounts[1] = []
                throw Failed()
            }
        }
        #expect(accounts[1].tryRead { $0 } == [])
    }

    @Test("Lists in all orders on many threads keep every value, and don't hang")
    func listsCross() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let accounts = (0..<6).map { _ in Protected(100) }
            onThreads(4) { index in
                var random = SplitRandom(state: UInt64(index))
                for _ in 0..<3_000 {
                    let few = Array(accounts.shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random)))
                    withLocked(few) { few in
                        few[0] -= few.count
                        for account in few.indices { few[account] += 1 }
                    }
                }
            }
            precondition(accounts.map(\.wrappedValue).reduce(0, +) == 600)
        }
    }

    @Test("A list that names one value twice crashes with a message, and so does a closure that changes its length")
    func wrongLists() async throws {
        let twice = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            let (value, other) = (Protected(1), Protected(2))
            withLocked([value, other, value]) { _ in }
        }
        #expect(twice.crashMessage.contains("names one value twice"))
        #expect(twice.crashMessage.contains("check with `isSame(as:)` first"))
        let longer = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            giveUp(afterSeconds: 120)
            withLocked([Protected(1)]) { $0.append(2) }
        }
        #expect(longer.crashMessage.contains("changed the number of the values"))
    }

    @Test("What the closure throws comes out typed, frees the locks, and keeps the changes")
    func throwing() {
        let (first, second, third) = (Protected(1), Protected(2), Protected([3]))
        #expect(throws: Failed()) {
            try withLocked(first, second) { first, _ throws(Failed) in
                first = 10
                throw Failed()
            }
        }
        #expect(throws: Failed()) {
            try withLocked(first, second, third) { _, _, third throws(Failed) in
                third.append(30)
                throw Failed()
            }
        }
        #expect(first.tryRead { $0 } == 10)
        #expect(second.tryRead { $0 } == 2)
        #expect(third.tryRead { $0 } == [3, 30])
    }

    @Test("A large collection is changed in place, and not copied")
    func inPlace() {
        let (list, other, third) = (Protected(Array(0..<1_000)), Protected(0), Protected(0))
        let address = list.read { $0.address }
        withLocked(list, other) { list, _ in list[0] = 1 }
        withLocked(list, other, third) { list, _, _ in list[0] = 2 }
        #expect(list[0] == 2)
        #expect(list.read { $0.address } == address)
    }

    @Test("All locks are held during the closure, and none after it")
    func locked() {
        let (first, second, third) = (Protected(1), Protected(""), Protected([1]))
        withLocked(first, second) { _, _ in
            #expect(first.tryRead { _ in } == nil)
            #expect(second.tryRead { _ in } == nil)
        }
        withLocked(third, second, first) { _, _, _ in
            #expect(first.tryRead { _ in } == nil)
            #expect(second.tryRead { _ in } == nil)
            #expect(third.tryRead { _ in } == nil)
        }
        #expect(first.tryRead { _ in } != nil)
        #expect(second.tryRead { _ in } != nil)
        #expect(third.tryRead { _ in } != nil)
    }

    /// A thread that waits for one of the locks has all that come before it.
    @Test(
        "The locks are taken in one order, however the values are named",
        arguments: [(2, false), (3, false), (4, true)]
    )
    func oneOrder(count: Int, isList: Bool) throws {
        let values = (0..<count).map { Protected($0) }
            .sorted { ObjectIdentifier($0.storage) < ObjectIdentifier($1.storage) }
        for named in permutations(of: values) {
            for held in 1..<count {
                let thread = try values[held].write { _ in
                    let thread = RunningThread { lockOnce(named, isList: isList) }
                    try poll("the thread has the locks before lock \(held)") {
                        values[..<held].allSatisfy { $0.tryRead { _ in } == nil }
                    }
                    return thread
                }
                thread.join()
            }
        }
    }

    @Test("Random sets of values in random orders on four threads: no hang, and every transfer is whole")
    func randomOrders() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            var random = SeededRandom(for: "randomOrders")
            let seeds = (0..<4).map { _ in UInt64.random(in: 0 ... .max, using: &random) }
            let accounts = (0..<5).map { _ in Protected(100) }
            onThreads(4) { index in
                var random = SplitRandom(state: seeds[index])
                for _ in 0..<5_000 {
                    let few = accounts.shuffled(using: &random)
                    switch Int.random(in: 0...2, using: &random) {
                    case 0:
                        withLocked(few[0], few[1]) { source, target in
                            source -= 1
                            target += 1
                        }
                    case 1:
                        withLocked(few[0], few[1], few[2]) { source, first, second in
                            source -= 2
                            first += 1
                            second += 1
                        }
                    default:
                        let sum = withLocked(few) { $0.reduce(0, +) }
                        precondition(sum == 500)
                    }
                }
            }
            precondition(accounts.map(\.wrappedValue).reduce(0, +) == 500)
        }
    }

    @Test("One value named twice crashes with a message before anything is locked, and doesn't hang")
    func namedTwice() async throws {
        let ofTwo = try await #require(processExitsWith: .failure, observing: standardError) {
            giveUp(afterSeconds: 120)
            let value = Protected(1)
            let again = value
            withLocked(value, again) { _, _ in }
        }
        #expect(ofTwo.crashMessage.contains("names one value twice"))
        let ofThree = try await #require(processExitsWith: .failure, observing: standardError) {
            giveUp(afterSeconds: 120)
            let (value, other) = (Protected(1), Protected(2))
            let again = value
            withLocked(value, other, again) { _, _, _ in }
        }
        #expect(ofThree.crashMessage.contains("names one value twice"))
    }
}

private func lockOnce(_ values: [Protected<Int>], isList: Bool) {
    switch values.count {
    case _ where isList: withLocked(values) { _ in }
    case 2: withLocked(values[0], values[1]) { _, _ in }
    default: withLocked(values[0], values[1], values[2]) { _, _, _ in }
    }
}

private func permutations<Element>(of elements: [Element]) -> [[Element]] {
    guard let last = elements.last else { return [[]] }
    return permutations(of: elements.dropLast()).flatMap { shorter in
        (0...shorter.count).map { place in
            var longer = shorter
            longer.insert(last, at: place)
            return longer
        }
    }
}

private struct Failed: Error, Equatable {}

/// Random numbers for one thread.
private struct SplitRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 33)
    }
}

extension Array {
    fileprivate var address: UInt {
        unsafe withUnsafeBufferPointer { elements in UInt(bitPattern: elements.baseAddress) }
    }
}
