//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

@Suite("Coding protected values")
struct CodingTests {
    private struct Settings: Codable, Equatable {
        @Protected var recent: [String] = []
        @Protected var opened = Date(timeIntervalSince1970: 0)
        @Protected var name: String?
        var volume = Protected(1)
    }

    /// The same without protection.
    private struct Plain: Codable, Equatable {
        var recent: [String] = []
        var opened = Date(timeIntervalSince1970: 0)
        var name: String?
        var volume = 1
    }

    private let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }()

    private let decoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }()

    @Test("The coded form is that of the value", arguments: ["b", nil])
    func form(name: String?) throws {
        let settings = Settings(recent: ["a"], name: name)
        let data = try encoder.encode(settings)
        #expect(data == (try encoder.encode(Plain(recent: ["a"], name: name))))
        #expect(try decoder.decode(Settings.self, from: data) == settings)
        let list = Protected([1, 2])
        #expect(try decoder.decode(Protected<[Int]>.self, from: encoder.encode(list)) == list)
    }

    @Test("A missing key is the usual error, and the one of an optional is nil")
    func missingKey() throws {
        let text = #"{"opened":"1970-01-01T00:00:00Z","recent":["a"],"volume":1}"#
        #expect(try decoder.decode(Settings.self, from: Data(text.utf8)).name == nil)
        let error = #expect(throws: DecodingError.self) {
            try decoder.decode(Settings.self, from: Data(text.replacing("recent", with: "other").utf8))
        }
        guard case .keyNotFound(let key, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(key.stringValue == "recent")
    }

    @Test("A value is encoded when the lock is free again, and may use its handle")
    func usesHandle() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            _ = try JSONEncoder().encode(Counting.handle)
            precondition(Counting.handle.count == 1)
        }
    }

    /// Counts how often it is encoded.
    private struct Counting: Encodable {
        static let handle = Protected(Counting())

        var count = 0

        func encode(to encoder: any Encoder) throws {
            Self.handle.count += 1
            try count.encode(to: encoder)
        }
    }
}
