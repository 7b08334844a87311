//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if os(macOS) || os(Linux)
import Foundation

/// What a run of the program left behind.
struct Launch {
    let status: Int32
    let output: String
    let errors: [String]

    /// Runs the built program, and waits for it.
    init(_ arguments: String..., in folder: URL? = nil) throws {
        let process = Process()
        process.executableURL = Launch.products.appendingPathComponent("WordCount")
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder }
        // Files take any amount of text; a pipe that nobody reads yet would fill up.
        let place = try Scratch()
        process.standardOutput = try FileHandle(forWritingTo: place.file("out", ""))
        process.standardError = try FileHandle(forWritingTo: place.file("err", ""))
        try process.run()
        process.waitUntilExit()
        status = process.terminationStatus
        output = try String(contentsOf: place.folder.appendingPathComponent("out"), encoding: .utf8)
        errors = try String(contentsOf: place.folder.appendingPathComponent("err"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// The count and the number of files that the table gives for a word.
    func row(_ word: String) -> (count: Int, files: Int)? {
        for line in output.split(separator: "\n") {
            let columns = line.split(separator: " ")
            if columns.count == 6, columns[1] == word, let count = Int(columns[2]), let files = Int(columns[5]) {
                return (count, files)
            }
        }
        return nil
    }

    /// The folder of the built products, where the tests are as well.
    private static var products: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        return (bundle?.bundleURL ?? Bundle.main.bundleURL.appendingPathComponent("_")).deletingLastPathComponent()
    }
}
#endif
