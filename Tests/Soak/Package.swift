// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

import PackageDescription

// A package of its own, so that the library's has no product and no target for it.
let package = Package(
    name: "Soak",
    platforms: [.macOS(.v10_15)],
    dependencies: [.package(name: "ThreadSafeValue", path: "../..")],
    targets: [
        .executableTarget(
            name: "Soak",
            dependencies: [.product(name: "ThreadSafeValue", package: "ThreadSafeValue")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
