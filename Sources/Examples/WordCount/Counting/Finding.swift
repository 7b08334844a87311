//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What came of looking into one file.
enum Finding: Sendable {
    /// It is text, with these words.
    case words(WordCounts)

    /// It is not text, nor did anyone say so.
    case skipped

    /// It could not be counted, though it should.
    case problem(Problem)
}

extension Finding {
    /// Reads a file and counts its words, on the calling thread.
    init(in file: FoundFile) {
        do {
            if let text = try TextFile.read(file.path) {
                self = .words(WordCounts(in: text))
            } else {
                self = file.isNamed ? .problem(Problem(path: file.path, reason: "not text")) : .skipped
            }
        } catch {
            self = .problem(Problem(path: file.path, error: error))
        }
    }
}
