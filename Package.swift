// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "ThreadSafeValue",
    platforms: [.iOS(.v13), .macOS(.v10_15), .tvOS(.v13), .watchOS(.v6), .visionOS(.v1)],
    products: [
        .library(name: "ThreadSafeValue", targets: ["ThreadSafeValue"]),
        .library(name: "ThreadSafeValueTesting", targets: ["ThreadSafeValueTesting"]),
    ],
    traits: [
        .trait(
            name: "EverySchedule",
            description: "Puts the hooks of ThreadSafeValueTesting into the library. For tests only: it costs speed."
        )
    ],
    targets: [
        .target(name: "CAtomicWord"),
        .target(name: "ThreadSafeValue", dependencies: ["CAtomicWord"]),
        .target(name: "ThreadSafeValueTesting", dependencies: ["ThreadSafeValue"]),
        .executableTarget(
            name: "WordCount",
            dependencies: ["ThreadSafeValue"],
            path: "Sources/Examples/WordCount"
        ),
        .testTarget(name: "ThreadSafeValueTests", dependencies: ["ThreadSafeValue"]),
        .testTarget(name: "CallFormsSwift6Tests", dependencies: ["ThreadSafeValue"]),
        .testTarget(name: "CallFormsSwift5Tests", dependencies: ["ThreadSafeValue"]),
        .testTarget(name: "WordCountTests", dependencies: ["ThreadSafeValue", "WordCount"]),
    ],
    swiftLanguageModes: [.v6]
)

// The C target takes no Swift settings.
for target in package.targets where target.name != "CAtomicWord" {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
    ]
    if target.name.contains("Swift5") { target.swiftSettings?.append(.swiftLanguageMode(.v5)) }
}
