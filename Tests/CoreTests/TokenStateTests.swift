import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 7009 §2, RFC 7662 §2 and §2.2.
@Suite("Whether a token is good, and taking it back")
struct TokenStateTests {
    @Test("An access token ends alone; a refresh token ends all")
    func revoked() async throws {
        let scene = try await SignInScene(profile: .web)
        let tokens = try await scene.offline().tokens
        func revoke(_ token: Secret<String>, by client: ClientID? = nil) async throws -> RevokeToken.Outcome {
            try await RevokeToken.revoke(token, by: client ?? scene.shop.id, ports: scene.world.ports)
        }
        let other = try await scene.world.makeClient("Other").client
        let refresh = try #require(tokens.refresh)
        #expect(try await revoke(tokens.access, by: other.id) == .notYours)
        #expect(try await revoke(refresh, by: other.id) == .notYours)
        #expect(try await revoke(Secret("x")) == .revoked)
        #expect(try await scene.isGood(tokens))
        #expect(try await revoke(tokens.access) == .revoked)
        #expect(try await revoke(tokens.access) == .revoked)
        #expect(try await !scene.isGood(tokens))
        let next = try await scene.refreshed(refresh)
        #expect(try await scene.isGood(next))
        #expect(try await revoke(refresh) == .revoked)
        #expect(try await !scene.isGood(next))
        #expect(try await scene.refresh(refresh) == .invalid)
    }

    @Test("Only the client that got a token learns that it is good")
    func introspected() async throws {
        let scene = try await SignInScene()
        let (given, tokens) = try await scene.offline()
        let other = try await scene.otherClient()
        func introspect(
            _ token: Secret<String>?, by client: ClientID? = nil
        ) async throws -> IntrospectToken.Outcome {
            try await IntrospectToken.introspect(
                try #require(token), by: client ?? scene.shop.id, ports: scene.world.ports)
        }
        guard case .access(let access) = try await introspect(tokens.access) else { throw World.Broken("access") }
        #expect(access.family == given.family && access.scopes == ["openid", "offline_access"])
        #expect(try await introspect(tokens.refresh) == .refresh(given.family))
        #expect(try await introspect(tokens.access, by: other) == .inactive)
        #expect(try await introspect(tokens.refresh, by: other) == .inactive)
        #expect(try await introspect(tokens.identity) == .inactive)
        #expect(try await introspect(Secret("x")) == .inactive)
        scene.world.time.advance(seconds: 600)
        #expect(try await introspect(tokens.access) == .inactive)
    }

    // Spec: OpenID Connect Core 1.0 §5.3, §5.3.3; RFC 6750 §3.1.
    @Test("A token without the scope openid says nothing of its user, not even their address where it is for that")
    func notIdentified() async throws {
        let scene = try await SignInScene()
        let session = try #require(try await scene.signedIn().session).secret
        var wanted = try scene.wanted()
        wanted.scopes = ["email"]
        let outcome = try await FinishSignIn.goOn(
            wanted, in: session, browser: scene.browser, ports: scene.world.ports)
        guard case .finished(let finished) = outcome, case .redeemed(let given) = try await scene.redeem(finished.code)
        else { throw World.Broken("\(outcome)") }
        let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
        #expect(tokens.identity == nil)
        #expect(try await ShowClaims.show(tokens.access, ports: scene.world.ports) == .scopeMissing)
    }

    @Test("A replaced refresh token is good as long as it is taken: within its grace, until the next one is used")
    func replaced() async throws {
        for isUsed in [false, true] {
            let scene = try await SignInScene()
            let first = try #require(try await scene.offline().tokens.refresh)
            let second = try #require(try await scene.refreshed(first).refresh)
            func isGood(_ token: Secret<String>) async throws -> Bool {
                let outcome = try await IntrospectToken.introspect(token, by: scene.shop.id, ports: scene.world.ports)
                if case .refresh = outcome { return true } else { return false }
            }
            scene.world.time.advance(seconds: 29)
            #expect(try await isGood(first))
            #expect(try await isGood(second))
            if isUsed {
                _ = try await scene.refreshed(second)
            } else {
                scene.world.time.advance(seconds: 1)
            }
            #expect(try await !isGood(first))
            // To ask ends nothing, where to use it would.
            #expect(try await isGood(second))
            #expect(try await scene.refresh(first) == .invalid)
            #expect(try await !isGood(second))
        }
    }

    // Spec: RFC 9701 §8.1.
    @Test("What introspection has signed is no token, and no ID token")
    func signedState() async throws {
        let scene = try await SignInScene(profile: .web)
        let tokens = try await scene.offline().tokens
        let ports = scene.world.ports
        let state: JSONValue = ["active": true, "sub": .string("\(scene.user)")]
        let signed = try #require(try await SignTokenState.sign(state, for: scene.shop.id, ports: ports))
        #expect(try await ShowClaims.show(Secret(signed), ports: ports) == .invalidToken)
        #expect(try await IntrospectToken.introspect(Secret(signed), by: scene.shop.id, ports: ports) == .inactive)
        #expect(try await scene.isGood(tokens))
        // A client without settings has agreed on no algorithm.
        let other = try await scene.world.makeClient("Other").client.id
        #expect(try await SignTokenState.sign(state, for: other, ports: ports) == nil)
    }

    @Test("While a device is suspended, no token that rests on it is good; when it is back, they are as before")
    func suspended() async throws {
        let scene = try await SignInScene(profile: .web)
        let (given, tokens) = try await scene.offline()
        func introspect(_ token: Secret<String>?) async throws -> IntrospectToken.Outcome {
            try await IntrospectToken.introspect(
                try #require(token), by: scene.shop.id, ports: scene.world.ports)
        }
        try await scene.suspend(true)
        #expect(try await ShowClaims.show(tokens.access, ports: scene.world.ports) == .invalidToken)
        for token in [tokens.access, tokens.refresh] { #expect(try await introspect(token) == .inactive) }
        try await scene.suspend(false)
        #expect(try await scene.isGood(tokens))
        #expect(try await introspect(tokens.refresh) == .refresh(given.family))
        guard case .access = try await introspect(tokens.access) else { throw World.Broken("access") }
        // What is taken back meanwhile stays so.
        try await scene.suspend(true)
        let revoked = try await RevokeToken.revoke(tokens.access, by: scene.shop.id, ports: scene.world.ports)
        #expect(revoked == .revoked)
        try await scene.suspend(false)
        #expect(try await introspect(tokens.access) == .inactive)
    }

    @Test("A token rests on the address or the passkey by which its user has signed in")
    func evidence() async throws {
        let scene = try await SignInScene()
        let (user, other) = (scene.user, try await scene.world.makeUser("other", of: scene.shop))
        let address = try await scene.world.ports.commit(at: scene.world.time.now, as: .system) { work in
            try work.verify(.email(try SignInScene.email("proved")), of: user)
        }
        let passkey: PasskeyID = scene.world.ports.random.id(at: scene.world.time.now)
        func isThere(_ evidence: Authentication.Evidence, of user: UserID) async throws -> Bool {
            try await scene.world.store.read { try $0.isThere(evidence, of: user) }
        }
        #expect(try await isThere(.code(address.id, .email), of: user))
        #expect(try await !isThere(.code(address.id, .email), of: other))
        #expect(try await !isThere(.passkey(passkey), of: user))
    }

    // Spec: RFC 9068 §4; RFC 7519 §4.1.1, §4.1.3, §4.1.4.
    @Test("What our key has signed is an access token only with our name, for us or an API, until it is over")
    func signedByUs() async throws {
        let scene = try await SignInScene()
        let ports = scene.world.ports
        let token = try await scene.tokens().tokens.access
        let keys = try ports.keys.current().tokens.published
        let verified = try JWS.verify(
            token.reveal(), algorithms: [.es256], type: .exactly("at+jwt"), keys: keys)
        let claims = try #require(try JSONValue(parsing: verified.payload).object)
        func isToken(_ changes: KeyValuePairs<String, JSONValue?>) async throws -> Bool {
            var changed = claims
            for (name, value) in changes { changed[name] = value }
            let text = try await SignTokens.signAccess(.object(changed), ports: ports)
            return try AccessClaims.readForAnybody(Secret(text), ports: ports) != nil
        }
        let now = scene.world.time.now.seconds
        #expect(try await isToken(["exp": .integer(now + 1)]))
        #expect(try await isToken(["aud": "https://orders.example.com/"]))
        let lies: [KeyValuePairs<String, JSONValue?>] = [
            ["iss": "https://other.example.com"], ["iss": nil], ["exp": .integer(now)], ["exp": nil],
            ["aud": "an api"], ["aud": nil], ["aud": [.string(World.issuer)]], ["iat": nil], ["jti": nil],
            ["sub": nil], ["client_id": nil], ["scope": nil],
        ]
        for lie in lies { #expect(try await !isToken(lie), "\(lie)") }
    }

    @Test("Where a key is compromised, what it has signed is good no more, though it was verified before")
    func compromisedKey() async throws {
        let scene = try await SignInScene()
        let tokens = try await scene.tokens().tokens
        for _ in 0..<2 { #expect(try await scene.isGood(tokens)) }
        scene.world.time.advance(seconds: 1)
        _ = try await RotateIssuerKey.begin(
            .token, isAtOnce: true, isCompromised: true, by: .system, ports: scene.world.ports)
        // The next key takes its place when every server has read it.
        scene.world.time.advance(RotateIssuerKey.settling)
        #expect(try await scene.isGood(tokens))
        try await RotateIssuerKey.sweep(ports: scene.world.ports)
        try await scene.world.store.refreshKeys()
        #expect(try await !scene.isGood(tokens))
    }
}
