//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

extension Double {
    /// The number with two decimals.
    var shown: String {
        String(format: "%.2f", self)
    }
}

extension Int {
    /// The number and what it counts: "1 file", "2 files".
    func of(_ noun: String) -> String {
        "\(self) \(noun)\(self == 1 ? "" : "s")"
    }
}

extension String {
    /// The text cut or filled up to a width.
    func padded(to width: Int) -> String {
        count > width ? prefix(width - 1) + "…" : self + String(repeating: " ", count: width - count)
    }

    /// The text at the right end of a width.
    func aligned(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
