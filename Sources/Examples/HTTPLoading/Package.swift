// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// An HTTP client whose shared state is protected values. A package of its own, as it is an example and not a part of the library.

import PackageDescription

let library = Target.Dependency.product(name: "ThreadSafeValue", package: "ThreadSafeValue")
let testing = Target.Dependency.product(name: "ThreadSafeValueTesting", package: "ThreadSafeValue")

let package = Package(
    name: "HTTPLoading",
    platforms: [.iOS(.v13), .macOS(.v10_15), .tvOS(.v13), .watchOS(.v6), .visionOS(.v1)],
    products: [.library(name: "HTTPLoading", targets: ["HTTPLoading"])],
    // For tests: swift test --traits EverySchedule
    traits: ["EverySchedule"],
    dependencies: [
        .package(
            name: "ThreadSafeValue",
            path: "../../..",
            traits: [.trait(name: "EverySchedule", condition: .when(traits: ["EverySchedule"]))]
        )
    ],
    targets: [
        .target(name: "HTTPLoading", dependencies: [library]),
        .executableTarget(name: "HTTPLoadingDemo", dependencies: ["HTTPLoading", library]),
        .testTarget(name: "HTTPLoadingTests", dependencies: ["HTTPLoading", library, testing]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
    ]
}
