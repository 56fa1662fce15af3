// swift-tools-version: 6.2

import PackageDescription

// The part of scripts/apple-check that reads Swift. It is a package of its own, so that nobody who builds Countersign
// resolves swift-syntax.
let package = Package(
    name: "AppleCheck",
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax.git", from: "603.0.1")],
    targets: [
        .executableTarget(
            name: "AppleCheck",
            dependencies: [
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
            ])
    ],
    swiftLanguageModes: [.v6]
)
