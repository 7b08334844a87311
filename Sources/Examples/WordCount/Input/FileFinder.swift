//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// A file whose words are to be counted.
struct FoundFile: Equatable, Sendable {
    let path: String

    /// Whether the user named it. If it was found in a folder, nobody claims that it is text.
    let isNamed: Bool
}

/// Turns what the user named into files, each of them once.
struct FileFinder {
    private(set) var files: [FoundFile] = []
    private(set) var problems: [Problem] = []

    // Where the files really are, without symbolic links: one file may have many names.
    private var known: Set<String> = []
}

extension FileFinder {
    /// Finds the files at some paths, and in the folders among them.
    static func find(_ paths: [String]) -> FileFinder {
        var finder = FileFinder()
        for path in paths { finder.add(path) }
        return finder
    }

    /// Keeps the files whose paths are as they should be.
    func filter(_ isWanted: (String) -> Bool) -> FileFinder {
        var finder = self
        finder.files.removeAll { !isWanted($0.path) }
        return finder
    }

    /// Follows what the user named, also if it is a symbolic link.
    private mutating func add(_ path: String) {
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        do {
            // An empty path would be the current folder.
            guard !path.isEmpty else { throw CocoaError(.fileNoSuchFile) }
            switch try FileFinder.type(of: place) {
            case .typeRegular: add(path, at: place, isNamed: true)
            case .typeDirectory: try walk(path, at: place)
            case .typeSymbolicLink: problems.append(Problem(path: path, reason: "a symbolic link to nowhere"))
            default: problems.append(Problem(path: path, reason: "neither a file nor a folder"))
            }
        } catch {
            problems.append(Problem(path: path, error: error))
        }
    }

    /// Adds the files of a folder and of those in it. Links are not followed, so there is no way back up.
    private mutating func walk(_ path: String, at place: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: place).sorted() where !name.hasPrefix(".") {
            let path = path.hasSuffix("/") ? path + name : path + "/" + name
            let place = place.hasSuffix("/") ? place + name : place + "/" + name
            do {
                switch try FileFinder.type(of: place) {
                case .typeRegular: add(path, at: place, isNamed: false)
                case .typeDirectory: try walk(path, at: place)
                default: break
                }
            } catch {
                problems.append(Problem(path: path, error: error))
            }
        }
    }

    private mutating func add(_ path: String, at place: String, isNamed: Bool) {
        if known.insert(place).inserted { files.append(FoundFile(path: path, isNamed: isNamed)) }
    }

    private static func type(of place: String) throws -> FileAttributeType? {
        try FileManager.default.attributesOfItem(atPath: place)[.type] as? FileAttributeType
    }
}
