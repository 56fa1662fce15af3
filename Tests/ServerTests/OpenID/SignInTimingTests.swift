import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

/// How long the pages take for a name that is known and for one that is not, and the endpoints at which a device or a
/// client's server names somebody.
///
/// That both cause the same statements is tested everywhere (`SignInCodeTests.sameStatements`,
/// `DeviceCodeTests.sameStatements`, `UserCodeTests.sameStatements`); the times are measured where nothing else runs. A
/// passkey needs no name: nothing of what a page says of it depends on one.
@Suite(
    "A known and an unknown name take as long", .serialized,
    .enabled(
        if: Measured.pairs > 0,
        "COUNTERSIGN_TIMED_PAIRS is not set, as scripts/test sets it for the long list: times are measured alone"))
struct SignInTimingTests {
    /// How somebody is named, and asked: on the pages, or by what a device or a client's server sends.
    enum Way: String, CaseIterable, Sendable {
        case device, qr, email, text, deviceGrant, backchannel

        /// What is said of it, and the name; both have as many characters.
        fileprivate var names: [(String, String)] {
            switch self {
            case .text: [("known", SignInTimingTests.phone), ("unknown", "+15551234568")]
            default: [("known", "customer-1@example.com"), ("unknown", "customer-2@example.com")]
            }
        }

        /// The steps of a sign-in.
        fileprivate var steps: [Step] {
            switch self {
            case .device, .qr, .email, .text: [.naming, .asking, .waiting]
            case .deviceGrant, .backchannel: [.asking, .waiting]
            }
        }

        fileprivate var settings: JSONObject {
            switch self {
            case .device, .qr, .email, .text:
                [
                    "asked_browsers": "all", "ways": ["device", "qr", "email", "text"], "calling_codes": ["+1555"],
                ]
            case .deviceGrant:
                ["profile": "native", "asked_browsers": "all", "device_grant": true, "device_login_hint": true]
            case .backchannel:
                [
                    "asked_browsers": "all", "backchannel_token_delivery_mode": "poll",
                    "backchannel_number_entry": true,
                ]
            }
        }
    }

    /// A step whose time is measured.
    fileprivate enum Step { case naming, asking, waiting }

    /// The customer's number.
    private static let phone = "+15551234567"
    /// By how much the medians may differ. Over a network, such a difference disappears in its variation.
    private static let limit = Duration.milliseconds(1)

    // Spec: OWASP ASVS 6.3.8.
    @Test("The medians of the steps of a sign-in differ by at most a millisecond", arguments: Way.allCases)
    func medians(_ way: Way) async throws {
        try await SignInPageScene.with(way.settings) { scene in
            let claim: JSONValue = ["phone": .string(Self.phone)]
            _ = try await scene.scene.shop.call(.PATCH, "/v1/users/\(scene.scene.user)", claim).success()
            var times = Measured()
            // The first pairs warm up caches and are not counted.
            for pair in -5..<Measured.pairs {
                for (what, name) in pair.isMultiple(of: 2) ? way.names : way.names.reversed() {
                    let taken = try await Self.walk(scene, name, by: way)
                    #expect(taken.map { $0.0 } == way.steps)
                    if pair >= 0 { for (step, time) in taken { times.add(time, to: "\(step) \(what)") } }
                }
                // Nobody's limits are reached, and what was asked is over.
                scene.server.clock.advance(seconds: 7300)
            }
            for step in way.steps {
                let (known, unknown) = (times.median("\(step) known"), times.median("\(step) unknown"))
                print(
                    "by \(way), \(step), \(Measured.pairs) pairs: \(known.microseconds) µs known, "
                        + "\(unknown.microseconds) µs unknown")
                let difference = max(known, unknown) - min(known, unknown)
                #expect(difference <= Self.limit, "\(step) by \(way): \(known) and \(unknown)")
            }
        }
    }

    /// From the name to what waits.
    private static func walk(
        _ scene: SignInPageScene, _ name: String, by way: Way
    ) async throws -> [(Step, Duration)] {
        let taken =
            switch way {
            case .device, .qr, .email, .text: try await walkPages(scene, name, by: way)
            case .deviceGrant, .backchannel: try await walkEndpoints(scene, name, by: way)
            }
        // What the outbox does for this one shall not slow down the next.
        try await Task.sleep(for: .milliseconds(60))
        return taken
    }

    /// From the name to the page that waits, in a browser of its own.
    private static func walkPages(
        _ scene: SignInPageScene, _ name: String, by way: Way
    ) async throws -> [(Step, Duration)] {
        let browser = TestBrowser(scene.server)
        let first = try await browser.get(scene.request())
        let (named, naming) = try await timed {
            try await browser.submit(first, to: "/signin/choose", [("identifier", name)])
        }
        let (asked, asking) = try await timed {
            try await browser.submit(named, to: "/signin/ask", [("way", way.rawValue)])
        }
        #expect(asked.status == 303, "\(asked.reply)")
        let path = try #require(asked.location)
        let (page, waiting) = try await timed { try await browser.get(path) }
        #expect(page.status == 200, "\(page.reply)")
        return [(.naming, naming), (.asking, asking), (.waiting, waiting)]
    }

    /// From a request that names somebody to the first poll.
    private static func walkEndpoints(
        _ scene: SignInPageScene, _ name: String, by way: Way
    ) async throws -> [(Step, Duration)] {
        let isDevice = way == .deviceGrant
        let fields = [("scope", "openid"), ("login_hint", name)]
        let (begun, asking) = try await timed {
            try await isDevice
                ? scene.token(fields + [("client_id", scene.credential.id)], at: "/oauth2/device_authorization")
                : scene.token(fields, basic: scene.credential, at: OAuthDoor.backchannelPath)
        }
        #expect(begun.status == 200 && begun.json["number"] != nil, "\(begun)")
        let (polled, waiting) = try await timed {
            try await isDevice ? scene.pollAsDevice(begun, after: 0) : scene.poll(begun, after: 0)
        }
        expectOAuthError(polled, "authorization_pending")
        return [(.asking, asking), (.waiting, waiting)]
    }

    private static func timed<Result>(_ body: () async throws -> Result) async throws -> (Result, Duration) {
        let start = ContinuousClock.now
        let result = try await body()
        return (result, start.duration(to: .now))
    }
}

/// Times by what was measured.
private struct Measured {
    static let pairs = ProcessInfo.processInfo.environment["COUNTERSIGN_TIMED_PAIRS"].flatMap { Int($0) } ?? 0

    private var times: [String: [Duration]] = [:]

    mutating func add(_ time: Duration, to what: String) { times[what, default: []].append(time) }

    func median(_ what: String) -> Duration {
        let sorted = (times[what] ?? []).sorted()
        return sorted.isEmpty ? .zero : sorted[sorted.count / 2]
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
