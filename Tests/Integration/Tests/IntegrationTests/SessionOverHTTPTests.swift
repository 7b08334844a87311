//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import HTTPLoading
import Testing
import ThreadSafeValue

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Session over HTTP")
struct SessionOverHTTPTests {
    @Test("50 pages that are asked for at once arrive whole, are processed, and the group notifies after all")
    func pages() async throws {
        try await TestServer.run { server in
            let session = Session()
            let (pages, all) = (Protected<[Int: String]>([:]), DispatchGroup())
            for number in 0..<50 {
                session.request(server.request("pages/\(number)")).response(on: .global(), in: all) { response in
                    String(decoding: response.body, as: UTF8.self)
                } completion: { result in
                    pages.wrappedValue[number] = try? result.get()
                }.resume()
            }
            try await all.wait()
            #expect(pages.wrappedValue == Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, "page \($0)") }))
        }
    }

    @Test("A large body, which comes in many parts, arrives whole")
    func large() async throws {
        try await TestServer.run { server in
            let session = Session()
            let request = session.request(server.request("large"))
            let result = try await callback { done in request.resume().response(on: .global(), completion: done) }
            #expect(try result.get().body == Data(repeating: 7, count: 3_000_000))
            #expect(request.state == .finished)
            #expect(request.status == 200)
            #expect(request.seconds > 0)
        }
    }

    @Test("A status that means an error is a response")
    func status() async throws {
        try await TestServer.run { server in
            let session = Session()
            let request = session.request(server.request("nowhere")).resume()
            let result = try await callback { done in request.response(on: .global(), completion: done) }
            #expect(try result.get().status == 404)
        }
    }

    @Test("A request that is paused before it runs is sent when it goes on")
    func pause() async throws {
        try await TestServer.run { server in
            let session = Session()
            let request = session.request(server.request("pages/1")).suspend()
            #expect(request.state == .suspended)
            request.resume()
            let result = try await callback { done in request.response(on: .global(), completion: done) }
            #expect(result.summary == "200 page 1")
        }
    }

    @Test("A request in flight that is cancelled answers at once")
    func cancel() async throws {
        try await TestServer.run { server in
            let session = Session()
            let request = session.request(server.request("held")).resume()
            try await server.holds(1)
            request.cancel()
            let result = try await callback { done in request.response(on: .global(), completion: done) }
            #expect(result.summary == "cancelled")
            #expect(request.state == .cancelled)
        }
    }

    @Test("Where no server listens, the error says so")
    func away() async throws {
        // The port of a server that is gone.
        let gone = Protected<URLRequest?>(nil)
        try await TestServer.run { server in gone.write(server.request("pages/1")) }
        let request = try #require(gone.wrappedValue)
        let session = Session()
        let result = try await callback { done in
            session.request(request).resume().response(on: .global(), completion: done)
        }
        #expect(result.summary == "no server answers there")
    }

    @Test("When the session goes away, a request in flight is cancelled and answered")
    func end() async throws {
        try await TestServer.run { server in
            let session = Protected<Session?>(Session())
            let request = session.wrappedValue?.request(server.request("held")).resume()
            try await server.holds(1)
            session.write(nil)
            let result = try await callback { done in request?.response(on: .global(), completion: done) }
            #expect(result.summary == "cancelled")
        }
    }

    @Test("100 rounds of racing resume, suspend and cancel: each request has one answer")
    func race() async throws {
        try await TestServer.run { server in
            let session = Session()
            let (answers, all) = (Protected(0), DispatchGroup())
            for _ in 0..<100 {
                let request = session.request(server.request("pages/1"))
                request.response(on: .global(), in: all) { _ in answers.wrappedValue += 1 }
                let steps: [@Sendable () -> Void] = [
                    { request.resume() }, { request.suspend() }, { request.resume() }, { request.cancel() },
                ]
                for step in steps { DispatchQueue.global().async(execute: step) }
            }
            try await all.wait()
            #expect(answers.wrappedValue == 100)
        }
    }
}
