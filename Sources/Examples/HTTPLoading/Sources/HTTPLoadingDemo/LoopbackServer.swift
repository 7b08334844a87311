//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// A web server that only this computer can reach, so that the demo has something to load.
///
/// It answers every request with a page that takes a while, and with a token.
struct LoopbackServer: Sendable {
    let url: URL
    private let listener: Int32

    /// Listens on a port that the system chooses.
    init() throws {
        // A client that hangs up must not end the process.
        signal(SIGPIPE, SIG_IGN)
        listener = try Self.check("socket", socket(AF_INET, Self.stream, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian  // 127.0.0.1
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        try unsafe withUnsafeMutablePointer(to: &address) { address in
            try unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try unsafe Self.check("bind", bind(listener, address, size))
                try Self.check("listen", listen(listener, 64))
                try unsafe Self.check("getsockname", getsockname(listener, address, &size))
            }
        }
        url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/")!
    }

    /// Answers from now on, each connection on a thread of its own.
    func start() {
        let listener = listener
        Thread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection >= 0 { Thread { Self.serve(connection) }.start() }
            }
        }.start()
    }
}

extension LoopbackServer {
    private static func serve(_ connection: Int32) {
        defer { close(connection) }
        guard let path = readPath(connection) else { return }
        let number = Int(path.split(separator: "/").last ?? "") ?? 0
        let half = String(repeating: "A line of page \(number).\n", count: 40 * (number + 1))
        let head = """
            HTTP/1.1 200 OK\r
            Content-Type: text/plain\r
            Content-Length: \(2 * half.utf8.count)\r
            Connection: close\r
            X-Token: demo-token\r
            \r

            """
        Thread.sleep(forTimeInterval: 0.05 + 0.02 * Double(number * 7 % 10))
        write(head + half, to: connection)
        Thread.sleep(forTimeInterval: 0.05)
        write(half, to: connection)
    }

    /// Reads the head of a request; the path is its second word.
    private static func readPath(_ connection: Int32) -> String? {
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !String(decoding: head, as: UTF8.self).contains("\r\n\r\n") {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            head += buffer[..<count]
        }
        let words = String(decoding: head, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? String(words[1]) : nil
    }

    /// Sends all of a text, unless the client hangs up.
    private static func write(_ text: String, to connection: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe send(connection, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    @discardableResult
    private static func check(_ call: String, _ result: Int32) throws -> Int32 {
        if result < 0 { throw Failure(call: call, code: errno) }
        return result
    }

    private struct Failure: Error {
        let call: String
        let code: Int32
    }

    // An enumeration in some C libraries, a number in others.
    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif
}
