//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Workloads

/// The cells as bars, on a scale where each line is ten times the one before.
struct Chart {
    private let report: Report

    init(_ report: Report) {
        self.report = report
    }

    private static let width = 860.0
    private static let left = 270.0
    private static let barHeight = 15.0

    var svg: String {
        var y = 64.0
        var body = ""
        for (title, cells) in report.contests {
            body += text(10, y, title, "title")
            y += 8
            for contestant in cells.contestants {
                body += bar(y, contestant, cells)
                y += Self.barHeight + 3
            }
            y += 32
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(y))" font-family="sans-serif" \
            font-size="11" role="img" aria-label="Time of an operation, ours and others">
            <style>
            text { fill: #24292f } .title { font-weight: bold; font-size: 13px } .scale { fill: #6e7781 }
            .ours { fill: #1f6feb } .peer { fill: #afb8c1 } line { stroke: #d0d7de }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 } .scale { fill: #8d96a0 } .peer { fill: #6e7681 } line { stroke: #30363d }
            }
            </style>
            \(text(10, 18, "Time of an operation: less is better; × is the ratio to the first peer", "title"))
            \(text(10, 34, "\(Machine.description), \(Machine.date)", "scale"))
            \(scale(to: y))\(body)</svg>

            """
    }

    private func bar(_ y: Double, _ contestant: Contestant, _ cells: Cells) -> String {
        let time = cells.time(of: contestant.name)
        let width = x(time) - Self.left
        let peer = cells.contestants.first { !$0.isOurs } ?? contestant
        let ratio = cells.ratio(of: contestant.name, toBestOf: [peer.name]).median.ratio
        let label = peer.name == contestant.name ? time.time : "\(time.time) · \(ratio) ×"
        let style = contestant.isOurs ? "ours" : "peer"
        return """
            <text x="\(Self.left - 8)" y="\(y + 12)" text-anchor="end">\(escaped(contestant.name))</text>
            <rect class="\(style)" x="\(Self.left)" y="\(y)" width="\(width.short)" height="\(Self.barHeight)" rx="2"/>
            \(text(Self.left + width + 6, y + 12, label, ""))
            """
    }

    private func scale(to bottom: Double) -> String {
        [10.0, 100, 1_000, 10_000].map { time in
            """
            <line x1="\(x(time).short)" x2="\(x(time).short)" y1="56" y2="\(bottom - 26)"/>
            \(text(x(time) + 2, bottom - 14, time == 10_000 ? "10 µs" : "\(Int(time)) ns", "scale"))
            """
        }.joined()
    }

    private func x(_ time: Double) -> Double {
        Self.left + 120 * log10(max(time, 2) / 2)
    }

    private func text(_ x: Double, _ y: Double, _ text: String, _ style: String) -> String {
        "<text class=\"\(style)\" x=\"\(x.short)\" y=\"\(y)\">\(escaped(text))</text>\n"
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
