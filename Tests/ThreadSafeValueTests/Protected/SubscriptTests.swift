//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// Those that no key path can lead through.
@Suite("Subscripts of a handle")
struct SubscriptTests {
    @Test("Counting with a default from four threads loses nothing")
    func counts() {
        let counts = Protected<[String: Int]>([:])
        onThreads(4) { index in
            for _ in 0..<25_000 {
                counts["all", default: 0] += 1
                counts["\(index)", default: 0] += 1
            }
        }
        #expect(counts["all", default: -1] == 100_000)
        #expect(counts.count == 5)
        #expect(counts["none", default: -1] == -1)
    }

    @Test("The default is evaluated before the lock is taken, so it may use the value")
    func evaluatesDefaultBefore() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let counts = Protected(["a": 1])
            counts["b", default: counts["a", default: 0]] += 1
            #expect(counts["c", default: counts.count] == 2)
            precondition(counts.wrappedValue == ["a": 1, "b": 2])
        }
    }

    @Test("A collection behind a key is changed in place")
    func changesInPlace() {
        let lists = Protected(["a": Array(0..<1_000)])
        let before = lists.read { $0["a"]?.address }
        lists["a", default: []][0] = 1
        #expect(lists.read { $0["a"]?.address } == before)
        lists["b", default: []].append(1)
        #expect(lists["b"] == [1])
    }

    @Test("Open ranges are read, replaced and changed in place")
    func openRanges() {
        let list = Protected([3, 2, 1, 0])
        #expect(list[2...] == [1, 0])
        #expect(list[..<2] == [3, 2])
        #expect(list[1...2] == [2, 1])
        list[1...].sort()
        #expect(list.wrappedValue == [3, 0, 1, 2])
        list[...1] = [7, 8]
        #expect(list.wrappedValue == [7, 8, 1, 2])
        list[0..<2].swapAt(0, 1)
        #expect(list.wrappedValue == [8, 7, 1, 2])
        let text = Protected("text")
        #expect(text[text.startIndex...] == "text")
    }

    @Test("What is replaced goes away when the lock is free, and may use the value")
    func replaced() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let seen = Log<Int>()
            let table = Protected<[String: Last]>([:])
            let list = Protected<[Last]>([])
            table["a", default: Last {}] = Last { seen.add(table.count) }
            table["a", default: Last {}] = Last {}
            list.append(Last { seen.add(list.count) })
            list[0...] = [Last {}]
            precondition(seen.entries == [1, 1])
        }
    }
}

extension [Int] {
    /// Where the elements are.
    fileprivate var address: UInt {
        unsafe withUnsafeBufferPointer { elements in UInt(bitPattern: elements.baseAddress) }
    }
}
