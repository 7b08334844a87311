// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// The library with a lock of the system in the place of its own, as on Apple systems, and the tests of what stands on
// the lock. The sources are links.

import PackageDescription

let package = Package(
    name: "SystemLock",
    platforms: [.macOS(.v10_15)],
    targets: [
        .target(name: "CAtomicWord"),
        .target(name: "ThreadSafeValue", dependencies: ["CAtomicWord"]),
        .testTarget(
            name: "ThreadSafeValueTests",
            dependencies: ["ThreadSafeValue"],
            exclude: [
                "Changes", "CommandQueue", "Primitives", "QueueSafeValue",
                // They are about the library's own lock, or its messages.
                "Lock/EventualFairnessTests.swift", "Lock/LockOrderTests.swift", "Lock/SmallProgramTests.swift",
                "Protected/ProtectedMistakeTests.swift",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.name != "CAtomicWord" {
    target.swiftSettings = [
        .define("SYSTEM_LOCK"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
    ]
}
