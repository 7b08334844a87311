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

extension Ratio: CustomStringConvertible {
    var description: String { "\(median.ratio) (\(low.ratio)–\(high.ratio))" }
}

/// Where and when.
enum Machine {
    static var description: String {
        let cpu = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
            .split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        return "\(cpu ?? "Unknown processor"), \(machine_core_count()) cores, \(system), Swift \(compiler)"
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
