// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

import PackageDescription

// Drives the HTTP example over real HTTP. It stands apart, so that the library depends on nothing.
let package = Package(
    name: "Integration",
    platforms: [.iOS(.v13), .macOS(.v10_15), .tvOS(.v13), .watchOS(.v8)],
    dependencies: [
        .package(name: "HTTPLoading", path: "../../Sources/Examples/HTTPLoading"),
        .package(name: "ThreadSafeValue", path: "../.."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                .product(name: "HTTPLoading", package: "HTTPLoading"),
                .product(name: "ThreadSafeValue", package: "ThreadSafeValue"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
    ]
}
