// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// Runs the library's own sources, which `Subject` links to, on virtual threads that a scheduler switches. What they
// stand on, the atomic word, the lock and the parts of Dispatch, is replaced by the doubles.

import PackageDescription

let package = Package(
    name: "Exploration",
    platforms: [.macOS(.v10_15)],
    targets: [
        .target(name: "CFiber"),
        .executableTarget(
            name: "Exploration",
            dependencies: ["CFiber"],
            exclude: [
                "Subject/Primitives/AtomicWord.swift", "Subject/Primitives/Submitter.swift",
                "Subject/Primitives/ThreadLocal.swift", "Subject/Timers/TimerThreads.swift",
                "Subject/CommandQueue/ThreadWaiter.swift", "Subject/CommandQueue/WaitingTask.swift",
                "Subject/QueueSafeValue/QueueSafeContainer+Changes.swift",
                "Subject/QueueSafeValue/QueueSafeContainer+Debugging.swift",
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                // Accesses are tracked a thread, and a virtual thread is none. Nothing of the real Dispatch is used, so
                // the imports of the subject draw warnings.
                .unsafeFlags(["-enforce-exclusivity=unchecked", "-suppress-warnings"]),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
