// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

import PackageDescription

let library = Target.Dependency.product(name: "ThreadSafeValue", package: "ThreadSafeValue")
let testing = Target.Dependency.product(name: "ThreadSafeValueTesting", package: "ThreadSafeValue")

// A package as a user of the library has it. Its own trait turns the hooks on, for tests: swift test --traits EverySchedule
let package = Package(
    name: "Stranger",
    platforms: [.iOS(.v13), .macOS(.v15)],
    products: [.library(name: "Faults", targets: ["Faults"])],
    traits: ["EverySchedule"],
    dependencies: [
        .package(
            name: "ThreadSafeValue",
            path: "../..",
            traits: [.trait(name: "EverySchedule", condition: .when(traits: ["EverySchedule"]))]
        )
    ],
    targets: [
        .target(name: "Faults", dependencies: [library]),
        .target(
            name: "Counting",
            dependencies: [library],
            exclude: ["Counting/Check.swift", "Input/OwnPackage.swift"]
        ),
        .executableTarget(name: "Chance", dependencies: ["Faults", library]),
        .testTarget(name: "StrangerTests", dependencies: ["Faults", "Counting", library, testing]),
    ],
    swiftLanguageModes: [.v6]
)
