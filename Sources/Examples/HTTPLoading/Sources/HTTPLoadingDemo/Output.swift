//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Writes a line at once, also when the output is no terminal.
func say(_ line: some CustomStringConvertible, end: String = "\n") {
    FileHandle.standardOutput.write(Data("\(line)\(end)".utf8))
}

/// Draws a bar that grows in one line of a terminal; elsewhere it takes a line each time.
func sayProgress(_ count: Int, of total: Int) {
    let width = 30
    let filled = count * width / total
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    let isTerminal = isatty(STDOUT_FILENO) == 1
    say((isTerminal ? "\r" : "") + "[\(bar)] \(count)/\(total)", end: isTerminal ? "" : "\n")
}
