import AsyncHTTPClient
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 7240 §4.3; CIBA Core 1.0 §10.1; RFC 8628 §3.5.
@Suite("Polls that are held", .timeLimit(.minutes(15)))
struct HeldPollTests {
    /// Far less than what would be waited for, and more than a busy machine needs.
    private static let soon = Duration.seconds(25)

    /// A client that asks by both doors, of a server that tells on a port how many requests wait.
    private static func serving(
        _ body: @escaping @Sendable (SignInPageScene, Int) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let port = FreePort.next()
        let address = ListenAddress("127.0.0.1:\(port)")
        try await TestServer.with(dataFolder: folder.path("data"), settings: { $0.metrics = address }) { server in
            let scene = try await Scene.make(server)
            let made = SignInPageScene(scene: scene, browser: TestBrowser(server), credential: scene.shop.credential)
            try await made.set([
                "asked_browsers": "all", "device_grant": true, "backchannel_token_delivery_mode": "poll",
                "backchannel_number_entry": true,
            ])
            let claim: JSONValue = ["email": "customer-1@example.com"]
            #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", claim).status == 200)
            // It goes on by what a test advances it, however long that takes.
            try await server.clock.stopped { _ in try await body(made, port) }
        }
    }

    private static func begin(_ scene: SignInPageScene, _ fields: [(String, String)] = []) async throws -> Reply {
        let begun = try await scene.token(
            [("scope", "openid"), ("login_hint", "customer-1@example.com")] + fields, basic: scene.credential,
            at: OAuthDoor.backchannelPath)
        #expect(begun.status == 200, "\(begun)")
        return begun
    }

    /// Returns once a request waits at the server.
    private static func untilHeld(_ port: Int) async throws {
        for _ in 0..<400 {
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics")
            let response = try await TestHTTP.client.execute(request, timeout: .seconds(30))
            let lines = String(buffer: try await response.body.collect(upTo: 1 << 20)).split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("countersign_waiting_requests ") })
            // It has its place now, and waits in a moment. It counts once, though for its code and for its client.
            if line == "countersign_waiting_requests 1" { return try await letItWait() }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("no one request waits")
    }

    @Test("What ends while its poll is held is expired_token at once: a device's code, and a server's request")
    func expires() async throws {
        try await Self.serving { scene, port in
            /// Holds a poll for longer than its request lasts, which is ten seconds by now.
            func expectExpired(_ poll: @escaping @Sendable () async throws -> Reply) async throws {
                async let held = poll()
                try await Self.untilHeld(port)
                let start = ContinuousClock.now
                scene.server.clock.advance(seconds: 10)
                expectOAuthError(try await held, "expired_token")
                #expect(start.duration(to: .now) < Self.soon)
            }
            let device = try await scene.token(
                [("requested_expiry", "60")], basic: scene.credential, at: OAuthDoor.deviceAuthorizationPath)
            #expect(device.status == 200, "\(device)")
            scene.server.clock.advance(seconds: 50)
            try await expectExpired {
                try await scene.pollAsDevice(device, after: 0, wait: "wait=30", basic: scene.credential)
            }
            let asked = try await Self.begin(scene, [("requested_expiry", "60")])
            scene.server.clock.advance(seconds: 50)
            try await expectExpired { try await scene.poll(asked, after: 0, wait: "wait=30") }
        }
    }

    @Test("CIBA Core 1.0 §10.1: no poll is held for more than 30 seconds, whatever it prefers")
    func longest() async throws {
        try await Self.serving { scene, port in
            let begun = try await Self.begin(scene)
            async let held = scene.poll(begun, after: 0, wait: "wait=3600")
            try await Self.untilHeld(port)
            let start = ContinuousClock.now
            // The request lasts for two minutes.
            scene.server.clock.advance(seconds: 31)
            expectOAuthError(try await held, "authorization_pending")
            #expect(start.duration(to: .now) < Self.soon)
        }
    }

    @Test("CIBA Core 1.0 §10.1: while a poll is held, another one is answered at once, and takes nothing from it")
    func second() async throws {
        try await Self.serving { scene, port in
            let begun = try await Self.begin(scene)
            async let held = scene.poll(begun, after: 0, wait: "wait=30")
            try await Self.untilHeld(port)
            let start = ContinuousClock.now
            let second = try await scene.poll(begun, after: 5, wait: "wait=30")
            expectOAuthError(second, "authorization_pending")
            expectOAuthError(try await scene.poll(begun, after: 0, wait: "wait=30"), "slow_down")
            #expect(start.duration(to: .now) < Self.soon)
            try await scene.approve(begun)
            let tokens = try await held
            #expect(tokens.status == 200, "\(tokens)")
            let access = try #require(tokens.json["access_token"]?.string)
            #expect(try await scene.userinfo(access).status == 200)
        }
    }
}
