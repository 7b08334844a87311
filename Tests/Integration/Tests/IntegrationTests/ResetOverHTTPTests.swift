//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import HTTPLoading
import Testing
import ThreadSafeValue

@Suite("Loader chain over HTTP")
struct ResetOverHTTPTests {
    @Test("A reset cancels what is in flight, drops the token, ends after all answers; then loads work again")
    func reset() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try await TestServer.run { server in
            let sender = URLSessionLoader(Session(), completingOn: .global())
            let chain = ResetGuard(next: TokenLoader(file: file, next: sender))
            let first = try await callback { done in chain.load(request: server.request("token"), completion: done) }
            let second = try await callback { done in chain.load(request: server.request("token"), completion: done) }
            #expect(first.summary == "200 nobody")
            #expect(second.summary == "200 Bearer secret")

            let results = Protected<[String]>([])
            for _ in 0..<4 { chain.load(request: server.request("held")) { results.append($0.summary) } }
            try await server.holds(4)
            try await callback { (done: @escaping @Sendable (()) -> Void) in
                chain.reset(on: .global()) { done(()) }
            }
            #expect(results.wrappedValue == Array(repeating: "cancelled", count: 4))
            #expect(!FileManager.default.fileExists(atPath: file.path))

            let third = try await callback { done in chain.load(request: server.request("token"), completion: done) }
            #expect(third.summary == "200 nobody")
        }
        try? FileManager.default.removeItem(at: file)
    }

    @Test("Loads and resets at once: each load is answered once, with its page, cancelled or refused")
    func race() async throws {
        try await TestServer.run { server in
            let chain = ResetGuard(next: URLSessionLoader(Session(), completingOn: .global()))
            let (results, all) = (Protected<[Int: [String]]>([:]), DispatchGroup())
            for number in 0..<100 {
                all.enter()
                all.enter()
                DispatchQueue.global().async {
                    chain.load(request: server.request("pages/\(number)")) { result in
                        results.wrappedValue[number, default: []].append(result.summary)
                        all.leave()
                    }
                }
                DispatchQueue.global().async {
                    guard number.isMultiple(of: 10) else { return all.leave() }
                    chain.reset(on: .global()) { all.leave() }
                }
            }
            try await all.wait()
            #expect(results.count == 100)
            for (number, results) in results.wrappedValue {
                #expect(results.count == 1)
                #expect(["200 page \(number)", "cancelled", "refused: a reset is in progress"].contains(results[0]))
            }
            let last = try await callback { done in chain.load(request: server.request("pages/0"), completion: done) }
            #expect(last.summary == "200 page 0")
        }
    }
}
