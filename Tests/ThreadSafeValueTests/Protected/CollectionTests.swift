//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("A collection as a protected value")
struct CollectionTests {
    @Test("append(_:) and append(contentsOf:) add at the end")
    func appends() {
        let numbers = Protected([1])
        numbers.append(2)
        numbers.append(contentsOf: 3...4)
        #expect(numbers.wrappedValue == [1, 2, 3, 4])
        let text = Protected("a")
        text.append("b")
        text.append(contentsOf: "cd")
        #expect(text.wrappedValue == "abcd")
    }

    /// A collection with a first element that is no optional.
    private struct NonEmpty: RandomAccessCollection {
        var first: Int
        var rest: [Int]
        var startIndex: Int { 0 }
        var endIndex: Int { rest.count + 1 }
        subscript(index: Int) -> Int { index == 0 ? first : rest[index - 1] }
    }

    @Test("Generic code asks a handle for the number of elements, and a collection keeps its own members")
    func members() {
        func description(of handle: Protected<some Collection>) -> String {
            handle.isEmpty ? "none" : "\(handle.count)"
        }
        #expect(description(of: Protected([1, 2, 3])) == "3")
        #expect(description(of: Protected([Int]())) == "none")
        let first: Int = Protected(NonEmpty(first: 1, rest: [2])).first
        #expect(first == 1)
    }

    @Test("Appending to an optional collection adds to it")
    func appendsToOptional() {
        let numbers = Protected<[Int]?>([1])
        numbers.append(2)
        numbers.append(contentsOf: [3, 4])
        #expect(numbers.wrappedValue == [1, 2, 3, 4])
    }

    @Test("Appending to nil leaves nil")
    func appendsToNil() {
        let numbers = Protected<[Int]?>(nil)
        numbers.append(1)
        numbers.append(contentsOf: [2, 3])
        #expect(numbers.wrappedValue == nil)
    }

    @Test("Appending from four threads loses nothing, and keeps each thread's order")
    func appendsFromThreads() {
        let pairs = Protected([(thread: Int, turn: Int)]())
        let optional = Protected<[Int]?>([])
        onThreads(4) { index in
            for turn in 0..<1_000 {
                pairs.append((index, 2 * turn))
                pairs.append(contentsOf: [(index, 2 * turn + 1)])
                optional.append(index)
                optional.append(contentsOf: [index])
            }
        }
        for index in 0..<4 {
            #expect(pairs.read { $0.filter { $0.thread == index }.map(\.turn) } == Array(0..<2_000))
        }
        #expect(optional.read { $0?.count } == 8_000)
    }

    @Test("A collection that is appended without a label to one that may be absent is appended, and nil stays nil")
    func appendsWithoutLabel() {
        let bytes = Protected<[UInt8]?>([1])
        let piece: [UInt8] = [2, 3]
        bytes.append(piece)
        bytes.append(4)
        #expect(bytes.wrappedValue == [1, 2, 3, 4])
        let data = Protected<Data?>(Data([1]))
        data.append(Data([2, 3]))
        #expect(data.wrappedValue == Data([1, 2, 3]))
        let text = Protected<String?>("a")
        text.append("b")
        text.append("cd" as String)
        #expect(text.wrappedValue == "abcd")
        let absent = Protected<Data?>(nil)
        absent.append(Data([1]))
        #expect(absent.wrappedValue == nil)
    }

    @Test("Where a collection is also an element, appending it appends one element")
    func appendsElement() {
        let lists = Protected<[Any]?>([])
        lists.append([1, 2])
        #expect(lists.read { $0?.count } == 1)
        let nested = Protected<[[Int]]?>([])
        nested.append([1, 2])
        nested.append([[3], [4]])
        #expect(nested.wrappedValue == [[1, 2], [3], [4]])
    }

    /// Key paths would not do: in release Swift 6.3 lets those to elements of an `InlineArray` lead elsewhere.
    @Test("Elements of an `InlineArray` are read, replaced and changed in place through the handle")
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func inlineArray() async {
        let counts = Protected(InlineArray<128, Int>(repeating: 0))
        onThreads(2) { _ in
            for _ in 0..<1_000 {
                counts[0] += 1
                counts[127] -= 1
            }
        }
        #expect(counts[0] == 2_000)
        #expect(counts.read { $0[127] } == -2_000)
        #expect(counts[1] == 0)
        let names = Protected(InlineArray<2, String>(repeating: "a name that is not short"))
        var changes = names.changes(buffering: .unbounded).makeAsyncIterator()
        names[1] = "another name that is not short"
        names[0].append(", and goes on")
        #expect(names[0] == "a name that is not short, and goes on")
        #expect(names.wrappedValue[1] == "another name that is not short")
        #expect(await changes.next()?[1] == names[1])
        #expect(await changes.next()?[0] == names[0])
        let rows = Protected(InlineArray<2, InlineArray<2, [Int]>>(repeating: InlineArray(repeating: [3])))
        rows[1][0].append(4)
        #expect(rows[1][0] == [3, 4])
        #expect(rows[0][0] == [3])
        #expect(rows.count == 2)
    }

    @Test("Random appends, removals and replacements agree with a plain array")
    func randomly() {
        var random = SeededRandom()
        var plain = [Int]()
        let numbers = Protected([Int]())
        for _ in 0..<5_000 {
            let number = Int.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                plain.append(number)
                numbers.append(number)
            case 1:
                plain.append(contentsOf: [number, number + 1])
                numbers.append(contentsOf: [number, number + 1])
            case 2 where !plain.isEmpty:
                plain[number % plain.count] += 1
                numbers.wrappedValue[number % plain.count] += 1
            case 3 where !plain.isEmpty:
                #expect(numbers.write { $0.removeLast() } == plain.removeLast())
            case 4:
                #expect(numbers.count == plain.count)
                #expect(numbers.last == plain.last)
            case 5 where number == 0:
                plain = [number]
                numbers.wrappedValue = [number]
            case 6:
                plain.reverse()
                numbers.wrappedValue.reverse()
            default:
                #expect(numbers.read { $0.first } == plain.first)
            }
            #expect(numbers.wrappedValue == plain, "TEST_SEED=\(random.seed)")
        }
    }
}
