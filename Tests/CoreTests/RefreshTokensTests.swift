import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 6749 §6, OpenID Connect Core 1.0 §11 and §12, RFC 9700 §4.14.2, OWASP ASVS 10.4.8.
@Suite("New tokens for a refresh token")
struct RefreshTokensTests {
    @Test("Without offline_access there is none")
    func none() async throws {
        let scene = try await SignInScene()
        #expect(try await scene.tokens().tokens.refresh == nil)
    }

    @Test("An app's token is replaced each time; the one before it comes again within the grace, and gets the same")
    func rotates() async throws {
        let scene = try await SignInScene()
        let first = try await scene.offline().tokens.refresh
        let second = try await scene.refreshed(first)
        #expect(scene.world.ports.tokenCounts.refreshes == 1)
        #expect(try await scene.refresh(Secret("x")) == .invalid)
        #expect(scene.world.ports.tokenCounts.refreshes == 1)
        #expect(try #require(second.refresh).isSame(as: try #require(first)) == false)
        #expect(try await scene.isGood(second))
        scene.world.time.advance(seconds: 29)
        let again = try await scene.refreshed(first)
        #expect(try #require(again.refresh).isSame(as: try #require(second.refresh)))
        // Neither of two requests at once logs the other out.
        let third = try await scene.refreshed(again.refresh)
        #expect(try await scene.isGood(third))
    }

    @Test("A replaced token after the grace, or after the new one was used, ends all that belongs together")
    func reuse() async throws {
        for isUsed in [false, true] {
            let scene = try await SignInScene()
            let first = try await scene.offline().tokens.refresh
            var last = try await scene.refreshed(first)
            if isUsed {
                last = try await scene.refreshed(last.refresh)
            } else {
                scene.world.time.advance(seconds: 30)
            }
            #expect(try await scene.isGood(last))
            #expect(try await scene.refresh(first) == .invalid)
            #expect(try await !scene.isGood(last))
            #expect(try await scene.refresh(last.refresh) == .invalid)
            let ended = try await scene.world.audit().filter { $0.kind == .tokensEnded }
            #expect(ended.last?.detail["reason"] == "refresh_reused")
        }
    }

    @Test("The client's settings say how long a replaced token may come again, from none to five minutes")
    func grace() async throws {
        for (grace, seconds, isGood) in [(0, 0, false), (1, 1, false), (300, 299, true), (300, 300, false)] {
            let scene = try await SignInScene()
            try await scene.set(grace: Seconds(Int64(grace)))
            let first = try await scene.offline().tokens.refresh
            let second = try await scene.refreshed(first)
            scene.world.time.advance(seconds: Int64(seconds))
            if isGood {
                #expect(try #require(try await scene.refreshed(first).refresh).isSame(as: try #require(second.refresh)))
            } else {
                #expect(try await scene.refresh(first) == .invalid)
            }
        }
    }

    // Spec: RFC 9700 §2.2.2.
    @Test("A web application's token stays, unless its settings have it replaced")
    func rotatesAlways() async throws {
        let scene = try await SignInScene(profile: .web)
        let first = try #require(try await scene.offline().tokens.refresh)
        let same = try #require(try await scene.refreshed(first).refresh)
        #expect(same.isSame(as: first))
        try await scene.set(.web, rotatesAlways: true)
        let second = try #require(try await scene.refreshed(first).refresh)
        #expect(!second.isSame(as: first))
        scene.world.time.advance(seconds: 30)
        #expect(try await scene.refresh(first) == .invalid)
        #expect(try await scene.refresh(second) == .invalid)
        // Back again, the last one stays.
        let next = try #require(try await scene.offline().tokens.refresh)
        let last = try #require(try await scene.refreshed(next).refresh)
        try await scene.set(.web)
        #expect(try #require(try await scene.refreshed(last).refresh).isSame(as: last))
    }

    @Test("A replaced token that comes while the device is suspended ends what comes back with the device")
    func reuseWhileSuspended() async throws {
        let scene = try await SignInScene()
        let first = try await scene.offline().tokens.refresh
        let last = try await scene.refreshed(try await scene.refreshed(first).refresh)
        try await scene.suspend(true)
        #expect(try await scene.refresh(last.refresh) == .invalid)
        #expect(try await scene.refresh(first) == .invalid)
        try await scene.suspend(false)
        #expect(try await scene.refresh(last.refresh) == .invalid)
        let ended = try await scene.world.audit().filter { $0.kind == .tokensEnded }
        #expect(ended.last?.detail["reason"] == "refresh_reused")
    }

    @Test("Requests with one token at once all get the same next one")
    func atOnce() async throws {
        let scene = try await SignInScene(.chosen)
        let first = try await scene.offline().tokens.refresh
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try #require(try await scene.refreshed(first).refresh).reveal() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
    }

    @Test("A client that keeps a secret keeps its token, too")
    func confidential() async throws {
        let scene = try await SignInScene(profile: .web)
        let first = try await scene.offline().tokens.refresh
        for _ in 0..<3 {
            scene.world.time.advance(seconds: 60)
            let next = try await scene.refreshed(first)
            #expect(try #require(next.refresh).isSame(as: try #require(first)))
        }
    }

    @Test("Who was authenticated, how and when stays; scopes may become fewer, and never more")
    func same() async throws {
        let scene = try await SignInScene(profile: .web)
        let (given, tokens) = try await scene.offline()
        scene.world.time.advance(seconds: 60)
        guard case .refreshed(let next) = try await scene.refresh(tokens.refresh, scopes: ["openid"]) else {
            throw World.Broken("refresh")
        }
        #expect(next.family.authentication == given.family.authentication && next.scopes == ["openid"])
        #expect(next.family.sid == given.family.sid && next.nonce == nil)
        #expect(try await scene.refresh(tokens.refresh, scopes: ["openid", "profile"]) == .scopeExceeded)
        guard case .refreshed(let whole) = try await scene.refresh(tokens.refresh) else {
            throw World.Broken("refresh")
        }
        #expect(whole.scopes == ["openid", "offline_access"])
    }

    @Test("It outlives the session; not thirty days without use, nor ninety in any case, nor a removed device")
    func ends() async throws {
        let scene = try await SignInScene(profile: .web)
        let first = try await scene.offline().tokens.refresh
        for _ in 0..<3 {
            scene.world.time.advance(seconds: 29 * 86_400)
            _ = try await scene.refreshed(first)
        }
        scene.world.time.advance(seconds: 3 * 86_400)
        #expect(try await scene.refresh(first) == .invalid)
        let second = try await scene.offline().tokens.refresh
        scene.world.time.advance(seconds: 30 * 86_400)
        #expect(try await scene.refresh(second) == .invalid)
        let third = try await scene.offline().tokens.refresh
        _ = try await RemoveEnrollment.remove(
            scene.device.enrollment, of: .id(scene.user), by: scene.shop.caller, ports: scene.world.ports)
        #expect(try await scene.refresh(third) == .invalid)
    }

    @Test("Another client's token, a changed one, and one of another kind are refused, and end nothing")
    func refused() async throws {
        let scene = try await SignInScene()
        let other = try await scene.otherClient()
        // The other one knows the person, too.
        _ = try await scene.world.store.commit { try $0.links.put(scene.user, to: other, externalID: nil) }
        let tokens = try await scene.offline().tokens
        let token = try #require(tokens.refresh).reveal()
        #expect(try await scene.refresh(Secret(token), by: other) == .invalid)
        for wrong in ["", "x", token + "A", String(token.dropLast()), token.replacing(".0.", with: ".1.")] {
            #expect(try await scene.refresh(Secret(wrong)) == .invalid)
        }
        #expect(try await scene.refresh(tokens.access) == .invalid)
        _ = try await scene.refreshed(tokens.refresh)
    }
}
