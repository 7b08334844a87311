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
    private static let library: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(2).joined(separator: "/") + "/ThreadSafeValue"
    }()

    #if canImport(Runtime)
    // Taken once, while no thread ends: that crashed.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private static let images = ImageMap.capture()
    #endif

    static func prepare() {
        #if canImport(Runtime)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { _ = images }
        #endif
    }

    /// The innermost place of the calling thread that is not the library's; empty if there is none.
    static func current() -> String {
        #if canImport(Runtime)
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *),
            let trace = try? Backtrace.capture(limit: 40, images: images).symbolicated()
        else { return "" }
        if getenv("PLACE") != nil { print(trace) }
        for frame in trace.frames {
            guard let place = frame.symbol?.sourceLocation, place.line > 0 else { continue }
            if place.path.hasPrefix(library) || place.path.contains("<compiler-generated>") { continue }
            return "\(place.path.split(separator: "/").last ?? ""):\(place.line)"
        }
        #endif
        return ""
    }
}
#endif
