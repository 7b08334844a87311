//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation

/// Standard output and standard error, of which one may be a terminal with a progress bar. For one thread.
final class Console {
    private let isTerminal =
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"

    private var isBarShown = false
    private var nextShow = DispatchTime.now()

    init() {
        delayNextShow()
    }
}

extension Console {
    /// Writes a line, or several, to standard output.
    func print(_ text: String) throws {
        try eraseBar()
        try write(text + "\n", to: STDOUT_FILENO)
    }

    /// Writes a line to standard error.
    func complain(_ text: String) {
        // Without standard error there is nobody to complain to.
        try? eraseBar()
        try? write("WordCount: \(text)\n", to: STDERR_FILENO)
    }

    /// Draws the bar fifty times a second on a terminal; elsewhere it is a line a second.
    func show(_ bar: ProgressBar) throws {
        guard nextShow <= .now() else { return }
        delayNextShow()
        if isTerminal {
            try write("\r\(bar.drawing)\u{1B}[K", to: STDOUT_FILENO)
            isBarShown = true
        } else {
            try print(bar.line)
        }
    }

    /// Shows the bar a last time; it stays.
    func finish(_ bar: ProgressBar) throws {
        try print(isTerminal ? bar.drawing : bar.line)
        delayNextShow()
    }

    private func delayNextShow() {
        nextShow = .now() + .milliseconds(isTerminal ? 20 : 1000)
    }

    private func eraseBar() throws {
        guard isBarShown else { return }
        isBarShown = false
        try write("\r\u{1B}[K", to: STDOUT_FILENO)
    }

    /// Writes at once and unbuffered, so that lines and bars come in order.
    private func write(_ text: String, to descriptor: Int32) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw OutputError(code: errno)
            }
        }
    }
}

/// The system would not take what was written.
struct OutputError: Error, CustomStringConvertible {
    let code: Int32

    var description: String {
        "cannot write: \(unsafe String(cString: strerror(code)))"
    }
}
