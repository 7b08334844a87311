//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// How far something is, as text.
struct ProgressBar {
    let title: String
    let total: Int
    var done = 0

    init(title: String, total: Int) {
        self.title = title
        self.total = total
    }
}

extension ProgressBar {
    /// For a terminal: `Counting [=======>            ] 40 of 100 files`. Less than 80 columns, up to a million files.
    var drawing: String {
        let width = 24
        let filled = total == 0 ? width : width * done / total
        let bar = String(repeating: "=", count: filled) + (filled < width ? ">" : "")
        return "\(title) [\(bar.padded(to: width))] \(state)"
    }

    /// For anything else: `Counting: 40 of 100 files`.
    var line: String {
        "\(title): \(state)"
    }

    private var state: String {
        "\(done) of \(total.of("file"))"
    }
}
