//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import FlyingFox
import FlyingSocks
import Foundation
import ThreadSafeValue

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A real server on 127.0.0.1, for one test.
struct TestServer: Sendable {
    let url: URL
    /// Requests for `/held` that have come, and who waits for how many.
    private let held: Protected<Held>

    private struct Held {
        var count = 0
        var waiting: [(count: Int, done: @Sendable () -> Void)] = []
    }

    /// Runs a server while a test needs it.
    static func run(_ test: (TestServer) async throws -> Void) async throws {
        let server = try HTTPServer(address: .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
        let held = Protected(Held())
        await addRoutes(to: server, held)
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening()
        let address = await server.listeningAddress
        guard case .ip4(_, let port)? = address else { throw TookTooLong() }
        try await test(TestServer(url: URL(string: "http://127.0.0.1:\(port)")!, held: held))
        running.cancel()
        _ = await running.result  // from here on nobody listens
    }

    func request(_ path: String) -> URLRequest {
        URLRequest(url: url.appendingPathComponent(path))
    }

    /// Waits until so many requests for `/held` have come. They are never answered.
    func holds(_ count: Int) async throws {
        try await callback { (done: @escaping @Sendable (()) -> Void) in
            let isReached = held.write { held in
                if held.count < count { held.waiting.append((count, { done(()) })) }
                return held.count >= count
            }
            if isReached { done(()) }
        }
    }

    private static func addRoutes(to server: HTTPServer, _ held: Protected<Held>) async {
        await server.appendRoute("/pages/:number") { (number: Int) in
            HTTPResponse(statusCode: .ok, body: Data("page \(number)".utf8))
        }
        await server.appendRoute("/large") { _ in
            HTTPResponse(statusCode: .ok, body: Data(repeating: 7, count: 3_000_000))
        }
        await server.appendRoute("/token") { request in
            HTTPResponse(
                statusCode: .ok,
                headers: [HTTPHeader("X-Token"): "secret"],
                body: Data((request.headers[.authorization] ?? "nobody").utf8)
            )
        }
        await server.appendRoute("/held") { _ in
            let done = held.write { held in
                held.count += 1
                let count = held.count
                defer { held.waiting.removeAll { $0.count <= count } }
                return held.waiting.filter { $0.count <= count }.map(\.done)
            }
            for done in done { done() }
            // Ends when the server does.
            try await Task.sleep(nanoseconds: .max / 2)
            return HTTPResponse(statusCode: .ok)
        }
    }
}
