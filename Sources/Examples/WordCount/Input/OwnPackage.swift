//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// The package that this program is part of.
enum OwnPackage {
    /// Its README and articles, which are counted unless the user names something.
    static func documents() throws(UsageError) -> FileFinder {
        let folder = try folder()
        let places = ["README.md", "Sources"].map { folder == "." ? $0 : folder + "/" + $0 }
        return FileFinder.find(places.filter(FileManager.default.fileExists)).filter { $0.hasSuffix(".md") }
    }

    /// The current folder if it is a package, as with `swift run`; otherwise the package of this source file.
    private static func folder() throws(UsageError) -> String {
        if isPackage(".") { return "." }
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path.count > 1 {
            folder.deleteLastPathComponent()
            if isPackage(folder.path) { return folder.path }
        }
        throw UsageError("there is no package here: name the files or folders to count")
    }

    private static func isPackage(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: folder + "/Package.swift")
    }
}
