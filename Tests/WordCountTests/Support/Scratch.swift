//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// A folder of its own for a test, which goes away with this object.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("WordCountTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Where a file is, or would be.
    func path(_ name: String) -> String {
        folder.appendingPathComponent(name).path
    }

    /// Writes a file, in folders that are made if need be.
    @discardableResult
    func file(_ name: String, _ content: String) throws -> URL {
        try file(name, Array(content.utf8))
    }

    @discardableResult
    func file(_ name: String, _ content: [UInt8]) throws -> URL {
        let place = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(content).write(to: place)
        return place
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }
}
