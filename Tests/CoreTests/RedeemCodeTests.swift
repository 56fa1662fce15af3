import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A code is redeemed once, by its client, with its verifier")
struct RedeemCodeTests {
    // Modules: oidcc-codereuse
    @Test("RFC 6749 §4.1.2: a code that comes twice is refused, and ends what it gave")
    func twice() async throws {
        let scene = try await SignInScene()
        let code = try await scene.signedIn().code
        guard case .redeemed(let redeemed) = try await scene.redeem(code) else { throw World.Broken("redeem") }
        let tokens = try await SignTokens.sign(redeemed, ports: scene.world.ports)
        #expect(try await scene.isGood(tokens))
        #expect(try await scene.redeem(code) == .invalid)
        #expect(try await !scene.isGood(tokens))
        let ended = try await scene.world.audit().filter { $0.kind == .tokensEnded }
        #expect(ended.map { $0.detail["reason"] } == ["code_reused"])
        #expect(ended.map(\.user) == [scene.user] && ended.map(\.client) == [scene.shop.id])
    }

    @Test("Two requests with one code at the same time: at most one gets tokens, and none stay good")
    func atOnce() async throws {
        let scene = try await SignInScene(.chosen)
        let code = try await scene.signedIn().code
        let outcomes = try await withThrowingTaskGroup(of: RedeemCode.Outcome.self) { group in
            for _ in 0..<8 { group.addTask { try await scene.redeem(code) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let redeemed = outcomes.compactMap { if case .redeemed(let redeemed) = $0 { redeemed } else { nil } }
        #expect(redeemed.count == 1)
        let family = try #require(redeemed.first).family.id
        #expect(try await scene.world.store.read { try $0.families.find(family) }?.endedAt != nil)
    }

    @Test("A code of another request is refused, and stays good for its own")
    func refused() async throws {
        let scene = try await SignInScene()
        let other = try await scene.otherClient()
        // The other one knows the person, too.
        _ = try await scene.world.store.commit { try $0.links.put(scene.user, to: other, externalID: nil) }
        let code = try await scene.signedIn().code
        #expect(try await scene.redeem(Secret("wrong")) == .invalid)
        #expect(try await scene.redeem(code, by: other) == .invalid)
        #expect(try await scene.redeem(code, uri: "https://shop.example.com/other") == .invalid)
        #expect(try await scene.redeem(code, uri: nil) == .invalid)
        #expect(try await scene.redeem(code, verifier: nil) == .invalid)
        let wrong = String(SignInScene.verifier.reversed())
        #expect(try await scene.redeem(code, verifier: wrong) == .invalid)
        guard case .redeemed = try await scene.redeem(code) else { throw World.Broken("redeem") }
    }

    @Test("RFC 9700 §4.8.2: a verifier without a challenge is refused")
    func downgrade() async throws {
        let scene = try await SignInScene(profile: .web)
        var wanted = try scene.wanted()
        wanted.codeChallenge = nil
        wanted.nonce = "n"
        let session = try #require(try await scene.signedIn().session).secret
        let outcome = try await FinishSignIn.goOn(
            wanted, in: session, browser: scene.browser, ports: scene.world.ports)
        guard case .finished(let finished) = outcome else { throw World.Broken("session") }
        #expect(try await scene.redeem(finished.code) == .invalid)
        guard case .redeemed = try await scene.redeem(finished.code, verifier: nil) else {
            throw World.Broken("redeem")
        }
    }

    @Test(
        "RFC 7636 §4.1: a verifier of another form is refused, though the challenge was made of it",
        arguments: [
            (String(repeating: "a", count: 42), false), (String(repeating: "a", count: 43), true),
            (String(repeating: "~", count: 128), true), (String(repeating: "a", count: 129), false),
            (String(repeating: "a", count: 42) + "+", false), (String(repeating: "a", count: 42) + " ", false),
        ])
    func verifiers(_ verifier: String, _ isGood: Bool) async throws {
        let scene = try await SignInScene()
        let session = try #require(try await scene.signedIn().session).secret
        var wanted = try scene.wanted()
        wanted.codeChallenge = Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8))))
        let outcome = try await FinishSignIn.goOn(
            wanted, in: session, browser: scene.browser, ports: scene.world.ports)
        guard case .finished(let finished) = outcome else { throw World.Broken("session") }
        switch try await scene.redeem(finished.code, verifier: verifier) {
        case .redeemed: #expect(isGood)
        case let refused: #expect(refused == .invalid && !isGood)
        }
    }

    // Spec: OWASP ASVS 10.4.3.
    @Test("A code is good for a minute")
    func late() async throws {
        let scene = try await SignInScene()
        let first = try await scene.signedIn().code
        scene.world.time.advance(seconds: 60)
        #expect(try await scene.redeem(first) == .invalid)
        let second = try await scene.signedIn().code
        scene.world.time.advance(seconds: 59)
        guard case .redeemed = try await scene.redeem(second) else { throw World.Broken("redeem") }
    }

    // Modules: oidcc-idtoken-signature, oidcc-max-age-10000
    // Spec: OpenID Connect Core 1.0 §2, §3.1.3.6 and §15.1; RFC 9068 §2 and §2.2; RFC 8176 §2.
    @Test(
        "The ID token says who, how and for whom, signed as the profile says",
        arguments: [
            (RelyingParty.Profile.web, "RS256"), (.native, "ES256"),
        ])
    func identity(_ profile: RelyingParty.Profile, _ algorithm: String) async throws {
        let scene = try await SignInScene(profile: profile)
        let (family, tokens) = try await scene.tokens()
        let keys = try scene.world.ports.keys.current().tokens.published
        let token = try #require(tokens.identity).reveal()
        let verified = try JWS.verify(token, algorithms: [.rs256, .es256], type: .exactly("JWT"), keys: keys)
        #expect(verified.header["alg"] == .string(algorithm))
        let claims = try JSONValue(parsing: verified.payload)
        let now = scene.world.time.now.seconds
        #expect(claims["iss"] == .string(World.issuer) && claims["sub"] == .string("\(scene.user)"))
        #expect(claims["aud"] == .string("\(scene.shop.id)") && claims["iat"] == .integer(now))
        #expect(claims["exp"] == .integer(now + 600) && claims["auth_time"] == .integer(now))
        #expect(claims["acr"] == "urn:countersign:acr:device" && claims["amr"] == ["swk", "user", "mca"])
        #expect(claims["sid"]?.string?.utf8.count == 22 && claims["nonce"] == nil)
        let access = try JWS.verify(
            tokens.access.reveal(), algorithms: [.es256], type: .exactly("at+jwt"), keys: keys)
        let half = Array(SHA256.hash(data: Array(tokens.access.reveal().utf8)).prefix(16))
        #expect(claims["at_hash"] == .string(Base64URL.encode(half)))
        let accessClaims = try JSONValue(parsing: access.payload)
        #expect(accessClaims["jti"]?.string?.hasPrefix("\(family.id).") == true)
        #expect(accessClaims["client_id"] == .string("\(scene.shop.id)") && accessClaims["scope"] == "openid")
        // Neither passes for the other. Spec: RFC 9068 §4, RFC 8725 §3.12.
        #expect(try await ShowClaims.show(Secret(token), ports: scene.world.ports) == .invalidToken)
    }
}
