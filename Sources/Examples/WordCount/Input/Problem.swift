//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Why something could not be counted, as one line for a person.
struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String {
        "\(path.shown): \(reason)"
    }
}

extension Problem {
    /// What the file system says about a path.
    init(path: String, error: any Error) {
        let reason =
            switch (error as? CocoaError)?.code {
            case .fileNoSuchFile?, .fileReadNoSuchFile?: "no such file or folder"
            case .fileReadNoPermission?: "permission denied"
            default: "cannot be read: \(((error as? CocoaError)?.underlying ?? error).localizedDescription)"
            }
        self.init(path: path, reason: reason)
    }
}

extension String {
    /// The same, in quotes if a line or a terminal would not survive it as it is.
    var shown: String {
        let isPlain = !isEmpty && unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isPlain ? self : debugDescription
    }
}
