//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Reads files that are text: UTF-8 without a zero byte.
enum TextFile {
    /// The text of a file.
    ///
    /// - Parameter path: Where the file is.
    /// - Returns: The text, or `nil` if the file is something else.
    /// - Throws: Why the file cannot be read.
    static func read(_ path: String) throws -> String? {
        // Most files that are not text have a zero byte near the beginning: no need to load a film.
        guard !beginning(of: path).contains(0) else { return nil }
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        guard !content.contains(0) else { return nil }
        return String(data: content, encoding: .utf8)
    }

    /// The first bytes of a file; none if it cannot be read.
    private static func beginning(of path: String) -> some Sequence<UInt8> {
        var bytes = [UInt8](repeating: 1, count: 4096)
        guard let stream = InputStream(fileAtPath: path) else { return bytes.prefix(0) }
        stream.open()
        defer { stream.close() }
        let count = unsafe stream.read(&bytes, maxLength: bytes.count)
        return bytes.prefix(max(0, count))
    }
}
