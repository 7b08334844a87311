//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule && canImport(Runtime)
import Foundation
import Runtime

/// Where a thread is: a file and a line.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
struct Place {
    // Taken once, while no thread ends.
    private static let images = ImageMap.capture()

    // No more frames than it takes: the runtime's own, further out, lead a walk along frame pointers astray.
    private let trace = try? Backtrace.capture(limit: 12, offset: 2, top: 0, images: images)

    /// The innermost place outside the library and its module for tests.
    var text: String? {
        let own = #filePath.replacingOccurrences(of: "Testing/Place.swift", with: "")
        for frame in trace?.symbolicated(with: Self.images)?.frames ?? [] {
            guard let symbol = frame.symbol, let place = symbol.sourceLocation else { continue }
            if place.path.hasPrefix(own) || place.path.contains("<compiler-generated>") { continue }
            // The compiler gives no line to some calls.
            let line = place.line > 0 ? ":\(place.line)" : ", \(symbol.name)"
            return "\(place.path.split(separator: "/").last ?? "")\(line)"
        }
        return nil
    }
}
#endif
