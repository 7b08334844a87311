//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// A handle's own members come first, as the section *In place* of the article ProtectingAValue says.
@Suite("Protected, members of the value with the same name")
struct HiddenMembersTests {
    private struct Channel: Sendable, Equatable, CustomDebugStringConvertible {
        var changes = 0
        var log = [String]()
        var debugDescription: String { "Channel" }

        func read() -> String { log.last ?? "" }
        mutating func write(_ line: String) { log.append(line) }
        mutating func append(_ line: String) { log.append("appended \(line)") }
        mutating func exchange(_ line: String) -> String {
            defer { log = [line] }
            return read()
        }
    }

    private struct Station: Sendable {
        @Protected var channel = Channel()
    }

    @Test("The handle's own member comes first")
    func handle() {
        let channel = Protected(Channel())
        channel.write { $0.changes = 1 }  // the handle's
        #expect(channel.read { $0.changes } == 1)
        let all: ValueChanges<Channel> = channel.changes()  // not the value's number
        _ = all
        #expect(channel.debugDescription == "Protected(Channel)")
    }

    @Test("`wrappedValue`, or a closure, leads to the value's")
    func value() {
        let channel = Protected(Channel())
        channel.wrappedValue.changes += 1  // in place, one step
        channel.wrappedValue.write("a")
        channel.write { $0.append("b") }
        #expect(channel.wrappedValue.read() == "appended b")
        #expect(channel.read { $0.read() } == "appended b")
        #expect(channel.wrappedValue.exchange("c") == "appended b")
        #expect(channel.wrappedValue == Channel(changes: 1, log: ["c"]))
    }

    @Test("A wrapped property is the value, and `$` the handle")
    func wrapped() {
        let station = Station()
        station.channel.changes += 1
        station.channel.write("a")  // the value's
        station.$channel.wrappedValue.append("b")  // the value's, too
        station.$channel.write { $0.append("c") }
        #expect(station.channel.log == ["a", "appended b", "appended c"])
        let all: ValueChanges<Channel> = station.$channel.changes()  // the handle's
        _ = all
    }

    @Test("A collection's own methods")
    func collection() {
        let list = Protected([3, 1, 2])
        list.wrappedValue.sort()
        list.write { $0.swapAt(0, 2) }
        #expect(list.wrappedValue == [3, 2, 1])
        #expect(list.count == 3)
    }
}
