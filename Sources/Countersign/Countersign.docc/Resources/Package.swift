// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Phone",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://example.com/countersign.git", from: "0.1.0", traits: [])
    ],
    targets: [
        .executableTarget(
            name: "Phone", dependencies: [.product(name: "Countersign", package: "countersign")])
    ])
