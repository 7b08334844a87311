//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// What to load: each URL once, and a line about each that is none.
struct Pages {
    private(set) var urls: [URL] = []
    private(set) var complaints: [String] = []

    /// The URLs among some arguments; without arguments, pages of a server that is started here.
    init(_ arguments: some Collection<String>) {
        if arguments.isEmpty { startServer() }
        for argument in arguments {
            let url = URL(string: argument)
            guard let url, ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false else {
                complaints.append("\(argument): not the URL of a page, which is like http://127.0.0.1:8080/index.html")
                continue
            }
            if !urls.contains(url) { urls.append(url) }
        }
    }

    private mutating func startServer() {
        do {
            let server = try LoopbackServer()
            server.start()
            urls = (1...12).map { server.url.appendingPathComponent("pages/\($0)") }
        } catch {
            complaints = ["The demo's own server does not start: \(error)"]
        }
    }
}
