//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
import Foundation

#if canImport(Runtime)
import Runtime
#endif

/// Where a program is: a file and a line.
enum Place {
    /// The folder of the library's sources, whose places say nothing.
    private static let library = #filePath.replacingOccurrences(of: "Testing/Place.swift", with: "/")

    #if canImport(Runtime)
    // Taken once, while no thread ends.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private static let images = ImageMap.capture()
    #endif

    /// Notes the place of the calling thread.
    ///
    /// - Returns: The innermost place that is not the library's; empty if there is none.
    static func capture() -> () -> String {
        #if canImport(Runtime)
        // No more frames than it takes: the runtime's own, further out, lead a walk along frame pointers astray.
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *),
            let trace = try? Backtrace.capture(limit: 12, offset: 2, top: 0, images: images)
        {
            return { text(trace) }
        }
        #endif
        return { "" }
    }

    #if canImport(Runtime)
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private static func text(_ trace: Backtrace) -> String {
        for frame in trace.symbolicated(with: images)?.frames ?? [] {
            guard let symbol = frame.symbol, let place = symbol.sourceLocation else { continue }
            if place.path.hasPrefix(library) || place.path.contains("<compiler-generated>") { continue }
            // The compiler gives no line to some calls.
            let line = place.line > 0 ? ":\(place.line)" : ", \(symbol.name)"
            return "\(place.path.split(separator: "/").last ?? "")\(line)"
        }
        return ""
    }
    #endif
}
#endif
