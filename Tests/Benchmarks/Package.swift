// swift-tools-version: 6.2
//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// A package of its own, so that the library depends on nothing.

import PackageDescription

let library = Target.Dependency.product(name: "ThreadSafeValue", package: "ThreadSafeValue")

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "ThreadSafeValue", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        // Without its traits: what they add, counts of allocations, reads zero on Linux.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "CMachine"),
        .target(
            name: "Members",
            dependencies: ["Boxes", "CMachine", library, .product(name: "NIOConcurrencyHelpers", package: "swift-nio")]
        ),
        .target(name: "Boxes", dependencies: [library]),
        .target(name: "Workloads", dependencies: ["CMachine", "Members"]),
        .executableTarget(name: "Comparison", dependencies: ["CMachine", "Members", "Workloads", library]),
        .executableTarget(name: "InstructionCounts", dependencies: ["CMachine", "Members", library]),
        .executableTarget(
            name: "ThreadSafeValueBenchmarks",
            dependencies: ["Workloads", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/ThreadSafeValueBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The C target takes no Swift settings.
for target in package.targets where target.name != "CMachine" {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ]
}

// Forms whose machine code is the same stay apart: merged, all but one would begin with a jump that programs do not have.
package.targets.first { $0.name == "Members" }?.swiftSettings?.append(
    .unsafeFlags(["-Xfrontend", "-disable-llvm-merge-functions-pass"], .when(configuration: .release))
)
