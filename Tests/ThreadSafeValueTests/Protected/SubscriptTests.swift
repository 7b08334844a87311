//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

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

    @Test("Elements by index and values by key are read, replaced and changed, from four threads too")
    func elements() {
        let list = Protected([1, 2, 3])
        let table = Protected<[String: [Int]]>([:])
        list[0] = 5
        list[1] += 1
        table["a"] = [1]
        table["a"]?.append(2)
        table["b"]?.append(3)
        #expect(list[0] == 5)
        #expect(list.wrappedValue == [5, 3, 3])
        #expect(table["a"] == [1, 2])
        #expect(table["b"] == nil)
        table["a"] = nil
        #expect(table.wrappedValue.isEmpty)
        let counts = Protected<[Int: Int]>([7: 0])
        onThreads(4) { _ in
            for _ in 0..<10_000 {
                list[1] += 1
                counts[7]! += 1
            }
        }
        #expect(list.wrappedValue == [5, 40_003, 3])
        #expect(counts.wrappedValue == [7: 40_000])
    }

    @Test("A collection is not copied when an element, a value or a part is changed or replaced")
    func notCopied() {
        let list = Protected(Array(0..<1_000))
        let lists = Protected([7: Array(0..<1_000)])
        let before = (list.read { $0.address }, lists.read { $0[7]?.address })
        list[0] += 1
        list[1] = 5
        list[2...3] = [6, 7]
        lists[7]?[0] = 1
        #expect(list.read { $0.address } == before.0)
        #expect(lists.read { $0[7]?.address } == before.1)
        #expect(list[..<4] == [1, 5, 6, 7])
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
            list[0] = Last { seen.add(list.count) }
            list[0] = Last {}
            let values = Protected<[String: Last]>([:])
            values["a"] = Last { seen.add(10 + values.count) }
            values["a"] = Last { seen.add(20 + values.count) }
            values["a"] = nil
            precondition(seen.entries == [1, 1, 1, 11, 20])
        }
    }
}

extension [Int] {
    /// Where the elements are.
    fileprivate var address: UInt {
        unsafe withUnsafeBufferPointer { elements in UInt(bitPattern: elements.baseAddress) }
    }
}
