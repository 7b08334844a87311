//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// The curves of a growth; both scales are logarithmic.
struct Chart {
    private let growth: Growth
    /// The powers of ten below and above all times.
    private let low: Double
    private let high: Double

    init(_ growth: Growth) {
        self.growth = growth
        let times = growth.curves.flatMap { $0.times.map(\.median) }
        low = log10(times.min()!).rounded(.down)
        high = max(log10(times.max()!).rounded(.up), low + 1)
    }

    var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 360" font-family="sans-serif" font-size="12" role="img" \
        aria-label="\(growth.title)">
        <style>
        text { fill: #24292f } .scale { stroke: #d0d7de } .ours { stroke: #1f6feb } .peer { stroke: #8c959f }
        polyline { fill: none; stroke-width: 2 }
        @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .scale { stroke: #30363d } }
        </style>
        \(text(60, 20, "\(growth.title): time of an operation"))
        \(scales)
        \(curves)
        </svg>

        """
    }

    private var scales: String {
        let times = stride(from: low, through: high, by: 1).map { power in
            let y = y(pow(10, power))
            return line(60, y, 560, y) + text(54, y + 4, pow(10, power).time, "end")
        }
        let sizes = growth.sizes.map { line(x($0), 40, x($0), 310) + text(x($0), 328, $0.grouped, "middle") }
        return (times + sizes).joined() + text(310, 350, growth.unit, "middle")
    }

    private var curves: String {
        // From the top: each name below the one before.
        let ends = growth.curves.map { ($0, y($0.times.last!.median)) }.sorted { $0.1 < $1.1 }
        var bottom = 0.0
        return ends.map { curve, end in
            bottom = max(bottom + 16, end + 4)
            let isDashed = curve.name != growth.curves.first { $0.isOurs == curve.isOurs }!.name
            let points = zip(growth.sizes, curve.times).map { "\(x($0).short),\(y($1.median).short)" }
            return """
                <polyline class="\(curve.isOurs ? "ours" : "peer")" stroke-dasharray="\(isDashed ? "6 4" : "none")" \
                points="\(points.joined(separator: " "))"/>
                \(text(568, bottom, curve.name + (isDashed ? " (dashed)" : "")))
                """
        }.joined()
    }

    private func x(_ size: Int) -> Double {
        60 + 500 * log(Double(size)) / log(Double(growth.sizes.last!))
    }

    private func y(_ time: Double) -> Double {
        310 - 270 * (log10(time) - low) / (high - low)
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line class=\"scale\" x1=\"\(x1.short)\" y1=\"\(y1.short)\" x2=\"\(x2.short)\" y2=\"\(y2.short)\"/>\n"
    }

    private func text(_ x: Double, _ y: Double, _ text: String, _ anchor: String = "start") -> String {
        "<text x=\"\(x.short)\" y=\"\(y.short)\" text-anchor=\"\(anchor)\">\(text)</text>\n"
    }
}
