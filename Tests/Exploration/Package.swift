// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// Runs the library's own sources on virtual threads that a scheduler switches. What they stand on, the atomic word, the
// lock, tasks and the parts of Dispatch, is replaced by the doubles. `Plugins/Subject` says which sources, and what is
// changed in them.

import PackageDescription

let package = Package(
    name: "Exploration",
    platforms: [.macOS(.v10_15)],
    targets: [
        .target(name: "CFiber"),
        .plugin(name: "Subject", capability: .buildTool()),
        .executableTarget(
            name: "Exploration",
            dependencies: ["CFiber"],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                // Accesses are tracked a thread, and a virtual thread is none. Nothing of the real Dispatch is used, so
                // the imports of the subject draw warnings.
                .unsafeFlags(["-enforce-exclusivity=unchecked", "-suppress-warnings"]),
            ],
            plugins: ["Subject"]
        ),
    ],
    swiftLanguageModes: [.v6]
)
