// swift-tools-version: 6.2

import PackageDescription

/// Settings shared by every target: Swift 6 mode comes from `swiftLanguageModes`, the rest makes meaning explicit.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// What only the server, the tools and the benchmarks use.
///
/// An app that writes `traits: []` resolves none of it.
func server(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server"]))
}

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let logging = server("Logging", "swift-log")

/// A test target: `Tests/<name>Tests`, in the same mode and with the same refusals as what it tests.
func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TestSupport"], resources: resources,
        swiftSettings: settings)
}

let package = Package(
    name: "countersign",
    platforms: [.iOS(.v17), .macOS(.v15)],
    products: [
        .library(name: "OpenPGP", targets: ["OpenPGP"]),
        // What the interface of the first names is in the second: decision 101.
        .library(name: "JOSE", targets: ["JOSE", "Encodings"]),
        .library(name: "Countersign", targets: ["Countersign", "CountersignWire"]),
        .library(name: "CountersignPrompts", targets: ["CountersignPrompts"]),
        .library(name: "CountersignApple", targets: ["CountersignApple"]),
        // The calls of three vendors' SDKs, and what their signatures name where Apple's modules are not: decision 102.
        .library(name: "Cotter", targets: ["Cotter"]),
        .library(name: "OneginiSDKiOS", targets: ["OneginiSDKiOS"]),
        .library(name: "DeviceAuthenticator", targets: ["DeviceAuthenticator"]),
        .library(name: "UIKitStandIn", targets: ["UIKitStandIn"]),
        .library(name: "UserNotificationsStandIn", targets: ["UserNotificationsStandIn"]),
        .library(name: "SecurityStandIn", targets: ["SecurityStandIn"]),
        .executable(name: "countersign", targets: ["CountersignCommand"]),
    ],
    traits: [
        .trait(name: "Server", description: "The server, the command-line tool and everything only they need."),
        .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-structured-headers.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.34.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .target(name: "Encodings", swiftSettings: settings),
        .target(name: "OpenPGP", dependencies: ["Encodings", crypto, cryptoExtras], swiftSettings: settings),
        .target(name: "JOSE", dependencies: ["Encodings", crypto, cryptoExtras], swiftSettings: settings),
        .target(name: "WebAuthn", dependencies: ["Encodings", "JOSE", crypto], swiftSettings: settings),
        .target(
            name: "CountersignWire",
            dependencies: [
                "Encodings", "OpenPGP", "JOSE", crypto,
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ],
            swiftSettings: settings),
        .target(
            name: "Countersign", dependencies: ["CountersignWire", crypto, cryptoExtras],
            swiftSettings: settings),
        .target(name: "CountersignPrompts", dependencies: ["Countersign"], swiftSettings: settings),
        // Empty on Linux, where scripts/apple-check type-checks it.
        .target(
            name: "CountersignApple", dependencies: ["Countersign", "CountersignPrompts", "OpenPGP", crypto],
            swiftSettings: settings),
        // Each is empty where the module whose name it begins with can be imported.
        .target(name: "UIKitStandIn", swiftSettings: settings),
        .target(name: "UserNotificationsStandIn", swiftSettings: settings),
        .target(name: "SecurityStandIn", swiftSettings: settings),
        .target(
            name: "Cotter",
            dependencies: [
                "Countersign", "CountersignPrompts", "CountersignApple", "CountersignWire", "UIKitStandIn",
            ],
            swiftSettings: settings),
        .target(
            name: "OneginiSDKiOS", dependencies: ["Countersign", "CountersignApple", "CountersignWire"],
            swiftSettings: settings),
        .target(
            name: "DeviceAuthenticator",
            dependencies: [
                "Countersign", "CountersignApple", "CountersignWire", "SecurityStandIn", "UserNotificationsStandIn",
            ],
            swiftSettings: settings),
        .target(
            name: "RelyingPartyAPI", dependencies: ["CountersignWire", "OpenPGP", "Encodings"],
            swiftSettings: settings),
        .target(
            name: "CountersignCore",
            dependencies: [
                "CountersignWire", "WebAuthn", logging, server("SwiftASN1", "swift-asn1"),
                server("X509", "swift-certificates"),
            ],
            swiftSettings: settings),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "CountersignStorage",
            dependencies: [
                "CountersignCore", "WebAuthn", "RelyingPartyAPI", "CPostgreSQL", logging, server("GRDB", "GRDB.swift"),
                server("GRDBSQLite", "GRDB.swift"),
            ],
            swiftSettings: settings),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "CQREncode", pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
        .systemLibrary(
            name: "CMaxMindDB", pkgConfig: "libmaxminddb",
            providers: [.apt(["libmaxminddb-dev"]), .brew(["libmaxminddb"])]),
        .target(
            name: "CountersignDelivery",
            dependencies: [
                "CountersignCore", "CCurl", crypto, server("AsyncHTTPClient", "async-http-client"),
                server("Mustache", "swift-mustache"), server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"), server("NIOHTTP2", "swift-nio-http2"),
                server("NIOPosix", "swift-nio"), server("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .target(
            name: "CountersignPages", dependencies: ["Encodings", server("Mustache", "swift-mustache")],
            swiftSettings: settings),
        // `docs/openapi.json` as bytes: the contract is in the one binary, and no Swift compiler reads it.
        .target(name: "COpenAPI"),
        .target(
            name: "CountersignServer",
            dependencies: [
                "CountersignCore", "CountersignStorage", "CountersignDelivery", "CountersignPages", "RelyingPartyAPI",
                "COpenAPI", "CMaxMindDB", "CQREncode", "JOSE",
                server("AsyncHTTPClient", "async-http-client"),
                server("Hummingbird", "hummingbird"),
                server("HummingbirdCore", "hummingbird"),
                server("HTTPTypes", "swift-http-types"),
                server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
                server("NIOHTTPTypes", "swift-nio-extras"),
                server("NIOHTTPTypesHTTP1", "swift-nio-extras"),
                server("NIOSSL", "swift-nio-ssl"),
                logging,
                server("ServiceLifecycle", "swift-service-lifecycle"),
                server("UnixSignals", "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "CountersignCommand",
            dependencies: [
                "CountersignServer", "CountersignCore", "CountersignStorage", "CountersignDelivery", "Countersign",
                "RelyingPartyAPI",
                server("ArgumentParser", "swift-argument-parser"),
                server("AsyncHTTPClient", "async-http-client"),
                server("Hummingbird", "hummingbird"),
                server("HTTPTypes", "swift-http-types"),
                server("NIOCore", "swift-nio"),
                server("NIOFoundationCompat", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
                server("ServiceLifecycle", "swift-service-lifecycle"),
                server("UnixSignals", "swift-service-lifecycle"),
                server("Yams", "Yams"),
            ],
            swiftSettings: settings),

        .target(
            name: "BenchmarkSupport",
            dependencies: [
                "Countersign", "Encodings", crypto, server("ArgumentParser", "swift-argument-parser"),
                server("AsyncHTTPClient", "async-http-client"), server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"), server("NIOPosix", "swift-nio"),
            ],
            path: "Benchmarks/BenchmarkSupport", swiftSettings: settings),
        .executableTarget(
            name: "CountersignVolume",
            dependencies: [
                "BenchmarkSupport", "CountersignCore", "CountersignStorage", "CountersignWire", "StorageTestSupport",
                "TestSupport", server("ArgumentParser", "swift-argument-parser"),
            ],
            path: "Benchmarks/CountersignVolume", swiftSettings: settings),
        .executableTarget(
            name: "CountersignOutbox",
            dependencies: [
                "BenchmarkSupport", "CountersignCore", "CountersignDelivery", "CountersignStorage", "CountersignWire",
                "Encodings", "StorageTestSupport", "TestSupport", crypto,
                server("ArgumentParser", "swift-argument-parser"),
                server("AsyncHTTPClient", "async-http-client"),
                server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"), server("NIOPosix", "swift-nio"),
            ],
            path: "Benchmarks/CountersignOutbox", swiftSettings: settings),
        .executableTarget(
            name: "CountersignBenchmark",
            dependencies: [
                "BenchmarkSupport", "Countersign", "CountersignWire", "Encodings", crypto,
                server("ArgumentParser", "swift-argument-parser"),
                server("AsyncHTTPClient", "async-http-client"),
                server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
            ],
            path: "Benchmarks/CountersignBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "CountersignSignIn",
            dependencies: [
                "BenchmarkSupport", "Countersign", "CountersignWire", "Encodings", crypto,
                server("ArgumentParser", "swift-argument-parser"),
                server("AsyncHTTPClient", "async-http-client"),
                server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"),
            ],
            path: "Benchmarks/CountersignSignIn", swiftSettings: settings),

        .executableTarget(
            name: "KeycloakChannel",
            dependencies: [
                "JOSE", "Encodings", crypto, logging, server("ArgumentParser", "swift-argument-parser"),
                server("AsyncHTTPClient", "async-http-client"), server("HTTPTypes", "swift-http-types"),
                server("Hummingbird", "hummingbird"), server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"), server("NIOPosix", "swift-nio"),
            ],
            path: "Examples/KeycloakChannel", swiftSettings: settings),
        .executableTarget(
            name: "ConformanceApprover",
            dependencies: [
                "Countersign", logging, server("ArgumentParser", "swift-argument-parser"),
                server("HTTPTypes", "swift-http-types"), server("Hummingbird", "hummingbird"),
                server("NIOCore", "swift-nio"),
            ],
            path: "Examples/ConformanceApprover", swiftSettings: settings),

        .target(name: "CSpawn", path: "Tests/CSpawn"),
        .target(
            name: "TestSupport",
            dependencies: ["CSpawn", "Encodings", "OpenPGP", crypto, logging],
            path: "Tests/Support", swiftSettings: settings),
        // It reads what OpenPGP keeps to itself, so no program that is built for release may need it.
        .target(
            name: "OpenPGPTestSupport", dependencies: ["OpenPGP", "TestSupport", crypto], path: "Tests/OpenPGPSupport",
            swiftSettings: settings),
        .target(
            name: "ServerTestSupport",
            dependencies: [
                "CountersignServer", "CountersignStorage", "CountersignCore", "StorageTestSupport", "TestSupport",
                logging,
                server("AsyncHTTPClient", "async-http-client"), server("Hummingbird", "hummingbird"),
                server("HTTPTypes", "swift-http-types"),
                server("NIOCore", "swift-nio"),
                server("NIOHTTP1", "swift-nio"),
                server("NIOPosix", "swift-nio"),
            ],
            path: "Tests/ServerSupport", swiftSettings: settings),
        .target(
            name: "StorageTestSupport",
            dependencies: [
                "CountersignStorage", "CountersignCore", "CountersignWire", "CPostgreSQL", "JOSE", "OpenPGP",
                "Encodings", "TestSupport", crypto, logging, server("SwiftASN1", "swift-asn1"),
                server("X509", "swift-certificates"),
            ],
            path: "Tests/StorageSupport", swiftSettings: settings),
        .target(
            name: "SimulationSupport",
            dependencies: [
                "CountersignCore", "CountersignDelivery", "CountersignServer", "CountersignStorage", "CountersignWire",
                "RelyingPartyAPI", "OpenPGP", "JOSE", "Encodings", "StorageTestSupport", "TestSupport", crypto, logging,
                server("AsyncHTTPClient", "async-http-client"), server("GRDB", "GRDB.swift"),
                server("GRDBSQLite", "GRDB.swift"), server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"),
            ],
            path: "Tests/SimulationSupport", swiftSettings: settings),
        .executableTarget(
            name: "CountersignSimulation",
            dependencies: ["SimulationSupport", server("ArgumentParser", "swift-argument-parser")],
            path: "Tests/Simulation", swiftSettings: settings),
        .executableTarget(
            name: "JOSEPeer", dependencies: ["JOSE", "Encodings", crypto], path: "Tests/JOSEPeer",
            swiftSettings: settings),
        .executableTarget(
            name: "WebAuthnPeer", dependencies: ["WebAuthn", "Encodings"], path: "Tests/WebAuthnPeer",
            swiftSettings: settings),
        .executableTarget(
            name: "PushPeer",
            dependencies: [
                "JOSE", "Encodings", crypto, server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"),
                server("NIOHTTP2", "swift-nio-http2"), server("NIOPosix", "swift-nio"),
                server("NIOSSL", "swift-nio-ssl"),
            ],
            path: "Tests/PushPeer", swiftSettings: settings),
        tests("Encodings", ["Encodings", logging]),
        tests("OpenPGP", ["OpenPGP", "OpenPGPTestSupport", "Encodings", crypto], resources: [.copy("Vectors")]),
        tests("JOSE", ["JOSE", "Encodings", crypto, cryptoExtras]),
        // It needs nothing of the server's, not even what other tests share.
        .testTarget(
            name: "WebAuthnTests", dependencies: ["WebAuthn", "Encodings", crypto, cryptoExtras],
            resources: [.copy("Vectors")], swiftSettings: settings),
        tests(
            "Wire", ["CountersignWire", "OpenPGP", "JOSE", "Encodings", crypto],
            resources: [.copy("Golden"), .copy("Deceptive")]),
        tests(
            "Core",
            [
                "CountersignCore", "CountersignStorage", "CountersignWire", "RelyingPartyAPI", "StorageTestSupport",
                "JOSE", "OpenPGP", "OpenPGPTestSupport", "Encodings", crypto, server("SwiftASN1", "swift-asn1"),
                server("X509", "swift-certificates"),
            ]),
        tests(
            "Storage",
            [
                "CountersignStorage", "CountersignCore", "CountersignWire", "RelyingPartyAPI", "StorageTestSupport",
                "JOSE", "OpenPGP", "Encodings", crypto, server("GRDB", "GRDB.swift"),
            ]),
        tests(
            "PostgreSQL",
            [
                "CountersignStorage", "CountersignCore", "CountersignWire", "StorageTestSupport", "OpenPGP",
                "JOSE", "Encodings", crypto, logging,
            ]),
        tests(
            "Delivery",
            [
                "CountersignDelivery", "CountersignStorage", "CountersignCore", "CountersignWire", "StorageTestSupport",
                "JOSE", "Encodings", crypto, logging, server("AsyncHTTPClient", "async-http-client"),
                server("NIOCore", "swift-nio"), server("NIOPosix", "swift-nio"),
            ]),
        tests("CountersignPages", ["CountersignPages", server("Mustache", "swift-mustache")]),
        tests(
            "Server",
            [
                "ServerTestSupport", "CountersignServer", "CountersignCore", "CountersignWire", "RelyingPartyAPI",
                "OpenPGP", "OpenPGPTestSupport", "Encodings",
                crypto, cryptoExtras, logging, server("AsyncHTTPClient", "async-http-client"),
                server("GRDB", "GRDB.swift"),
                server("HTTPTypes", "swift-http-types"), server("Hummingbird", "hummingbird"),
                server("NIOCore", "swift-nio"),
                server("NIOEmbedded", "swift-nio"), server("NIOHTTP1", "swift-nio"),
                server("NIOHTTPTypes", "swift-nio-extras"), server("NIOPosix", "swift-nio"),
                .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ]),
        tests(
            "SDK",
            [
                "Countersign", "ServerTestSupport", "StorageTestSupport", "CountersignStorage", "CountersignWire",
                "OpenPGP", "Encodings", crypto,
                server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"), server("NIOPosix", "swift-nio"),
            ], resources: [.copy("Vectors"), .copy("Stored")]),
        tests(
            "Prompts",
            [
                "CountersignPrompts", "Countersign", "ServerTestSupport", "CountersignWire", "Encodings",
                server("NIOHTTP1", "swift-nio"),
            ]),
        // The vendors' own samples, as an app of their time compiles them: see scripts/seed-snippets.
        .target(
            name: "VendorSnippets",
            dependencies: [
                "Countersign",
                "Cotter",
                "OneginiSDKiOS",
                "DeviceAuthenticator",
                "UIKitStandIn",
                "UserNotificationsStandIn",
                "SecurityStandIn",
                crypto,
            ],
            path: "Tests/VendorSnippets", swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "VendorTests",
            dependencies: [
                "Cotter",
                "OneginiSDKiOS",
                "DeviceAuthenticator",
                "UIKitStandIn",
                "UserNotificationsStandIn",
                "SecurityStandIn",
                "VendorSnippets",
                "Countersign",
                "CountersignPrompts",
                "CountersignWire",
                "OpenPGP",
                "JOSE",
                "Encodings",
                "ServerTestSupport",
                "StorageTestSupport",
                "TestSupport",
                "CountersignServer",
                crypto,
                server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"), server("NIOPosix", "swift-nio"),
            ],
            exclude: ["Snippets"], swiftSettings: settings),
        tests(
            "Command",
            [
                "ConformanceApprover", "Countersign", "CountersignCommand", "CountersignServer", "CountersignStorage",
                "CountersignWire", "KeycloakChannel", "ServerTestSupport", "Encodings", "JOSE", crypto, logging,
                server("ArgumentParser", "swift-argument-parser"),
                server("AsyncHTTPClient", "async-http-client"),
                server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"), server("NIOPosix", "swift-nio"),
                server("NIOSSL", "swift-nio-ssl"), server("Yams", "Yams"),
            ]),
        tests("Simulation", ["SimulationSupport"]),
        tests("Interoperability", ["OpenPGP", "OpenPGPTestSupport", "CountersignWire", "Encodings", crypto]),
        tests(
            "System",
            [
                "BenchmarkSupport", "Countersign", "CountersignCommand", "CountersignSignIn", "CountersignStorage",
                "ServerTestSupport",
                "CountersignWire",
                "OpenPGP", "Encodings",
                crypto, server("AsyncHTTPClient", "async-http-client"), server("GRDB", "GRDB.swift"),
                server("NIOCore", "swift-nio"), server("NIOHTTP1", "swift-nio"), server("NIOPosix", "swift-nio"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The fuzzer shares the properties of the parsers with the test target that replays its corpus, and two targets cannot
// share files: `make fuzz` builds the one, everything else the other. See Fuzz/README.md.
let parsed: [Target.Dependency] = [
    "CountersignCore", "CountersignWire", "RelyingPartyAPI", "OpenPGP", "JOSE", "WebAuthn", "Encodings",
    crypto,
]
if Context.environment["COUNTERSIGN_FUZZ"] == nil {
    package.targets.append(
        .testTarget(
            name: "ParserTests", dependencies: parsed + ["TestSupport"], exclude: ["Fuzzer"], swiftSettings: settings))
} else {
    package.targets.append(
        .executableTarget(
            name: "CountersignFuzz", dependencies: parsed, path: "Tests/ParserTests", exclude: ["Replay"],
            swiftSettings: settings))
}

// SwiftPM builds all test targets or none: `make test-fast` names its own here, and all they do not need is left out.
if let named = Context.environment["COUNTERSIGN_TESTS"] {
    var needed: Set<String> = []
    var found = named.split(separator: " ").map(String.init)
    while let name = found.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for dependency in target.dependencies {
            if case .byNameItem(let name, _) = dependency { found.append(name) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll()
}
