import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// How long the pages take for a name that is known and for one that is not.
///
/// That both cause the same statements is tested everywhere (`SignInCodeTests.sameStatements`); the times are measured
/// where nothing else runs.
@Suite(
    "A known and an unknown name take as long on the pages", .serialized,
    .enabled(
        if: Measured.pairs > 0,
        "COUNTERSIGN_TIMED_PAIRS is not set, as scripts/test sets it for the long list: times are measured alone"))
struct SignInTimingTests {
    /// What is said of it, and the name; both have as many characters.
    private static let names = [("known", "customer-1@example.com"), ("unknown", "customer-2@example.com")]
    /// By how much the medians may differ. Over a network, such a difference disappears in its variation.
    private static let limit = Duration.milliseconds(1)

    // Spec: OWASP ASVS 6.3.8.
    @Test("The medians of the steps of a sign-in differ by at most a millisecond", arguments: ["device", "email"])
    func medians(_ way: String) async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "ways": ["device", "qr", "email"]]) { scene in
            var times = Measured()
            // The first pairs warm up caches and are not counted.
            for pair in -5..<Measured.pairs {
                for (what, name) in pair.isMultiple(of: 2) ? Self.names : Self.names.reversed() {
                    let taken = try await Self.walk(scene, name, by: way)
                    if pair >= 0 { for (step, time) in taken { times.add(time, to: "\(step) \(what)") } }
                }
                // Nobody's limits are reached, and what was asked is over.
                scene.server.clock.advance(seconds: 7300)
            }
            for step in Step.allCases {
                let (known, unknown) = (times.median("\(step) known"), times.median("\(step) unknown"))
                print(
                    "by \(way), \(step), \(Measured.pairs) pairs: \(known.microseconds) µs known, "
                        + "\(unknown.microseconds) µs unknown")
                let difference = max(known, unknown) - min(known, unknown)
                #expect(difference <= Self.limit, "\(step) by \(way): \(known) and \(unknown)")
            }
        }
    }

    /// A step whose time is measured.
    private enum Step: CaseIterable { case naming, asking, waiting }

    /// From the name to the page that waits, in a browser of its own.
    private static func walk(
        _ scene: SignInPageScene, _ name: String, by way: String
    ) async throws -> [(Step, Duration)] {
        let browser = TestBrowser(scene.server)
        let first = try await browser.get(scene.request())
        let (named, naming) = try await timed {
            try await browser.submit(first, to: "/signin/choose", [("identifier", name)])
        }
        let (asked, asking) = try await timed { try await browser.submit(named, to: "/signin/ask", [("way", way)]) }
        #expect(asked.status == 303, "\(asked.reply)")
        let path = try #require(asked.location)
        let (page, waiting) = try await timed { try await browser.get(path) }
        #expect(page.status == 200, "\(page.reply)")
        // What the outbox does for this one shall not slow down the next.
        try await Task.sleep(for: .milliseconds(60))
        return [(.naming, naming), (.asking, asking), (.waiting, waiting)]
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
