//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Foundation

extension Double {
    /// Nanoseconds for a person.
    var time: String {
        switch self {
        case ..<100: String(format: "%.1f ns", self)
        case ..<10_000: String(format: "%.0f ns", self)
        case ..<10_000_000: String(format: "%.1f µs", self / 1_000)
        default: String(format: "%.1f ms", self / 1_000_000)
        }
    }

    var ratio: String {
        self < 0.1 ? String(format: "%.3f", self) : String(format: "%.2f", self)
    }

    var short: String { String(format: "%.1f", self) }
}

extension [Double] {
    /// The median of some times, and the middle half of them.
    var spread: String { "\(median.time) (\(quantile(0.25).time)–\(quantile(0.75).time))" }
}

extension Int {
    var grouped: String { formatted(.number.locale(Locale(identifier: "en_US"))) }
}

extension Ratio: CustomStringConvertible {
    var description: String { "\(median.ratio) (\(low.ratio)–\(high.ratio))" }
}

/// Where and when.
enum Machine {
    static var processor: String {
        let cpu = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
            .split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
        return cpu ?? "Unknown processor"
    }

    static var kernel: String {
        let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        return release.map { "Linux \($0.trimmingCharacters(in: .whitespacesAndNewlines))" } ?? "unknown kernel"
    }

    static var description: String {
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        return "\(processor), \(machine_core_count()) cores, \(system), \(kernel), Swift \(compiler)"
    }

    static var date: String {
        let parts = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: Date())
        return String(format: "%04d-%02d-%02d", parts.year!, parts.month!, parts.day!)
    }

    private static var compiler: String {
        #if compiler(>=6.4)
        "6.4 or later"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }
}
