import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

extension SignInScene {
    fileprivate func redeem(
        _ code: Secret<String>, with key: ProvedKey?, at ports: Ports? = nil
    ) async throws -> RedeemCode.Outcome {
        let request = RedeemCode.Request(
            code: code, redirectURI: Self.redirectURI, verifier: Secret(Self.verifier), key: key)
        return try await RedeemCode.redeem(request, by: shop.id, ports: ports ?? world.ports)
    }

    fileprivate func refresh(
        _ token: Secret<String>?, with key: ProvedKey?, at ports: Ports? = nil
    ) async throws -> RefreshTokens.Outcome {
        try await RefreshTokens.refresh(
            try #require(token), scopes: nil, by: shop.id, with: key, ports: ports ?? world.ports)
    }

    fileprivate func refreshed(_ token: Secret<String>?, with key: ProvedKey?) async throws -> SignedTokens {
        guard case .refreshed(let given) = try await refresh(token, with: key) else { throw World.Broken("refresh") }
        return try await SignTokens.sign(given, ports: world.ports)
    }

    /// The code of a sign-in with the scope `offline_access`.
    fileprivate func offlineCode(boundTo thumbprint: String? = nil) async throws -> Secret<String> {
        let session = try #require(try await signedIn().session).secret
        var wanted = try wanted()
        wanted.scopes.append(TokenFamily.offlineAccess)
        wanted.keyThumbprint = thumbprint.map { .key($0) }
        let outcome = try await FinishSignIn.goOn(wanted, in: session, browser: browser, ports: world.ports)
        guard case .finished(let finished) = outcome else { throw World.Broken("code") }
        return finished.code
    }

    /// Tokens that are bound to a key.
    fileprivate func offline(with key: ProvedKey) async throws -> SignedTokens {
        guard case .redeemed(let given) = try await redeem(try await offlineCode(), with: key) else {
            throw World.Broken("offline")
        }
        #expect(given.family.keyThumbprint == key.thumbprint)
        return try await SignTokens.sign(given, ports: world.ports)
    }

    /// Has the shop get bound tokens alone, or others, too.
    fileprivate func bind(
        _ profile: RelyingParty.Profile = .native, always: Bool = true, rotates: Bool = false
    ) async throws {
        let party = RelyingParty(
            client: shop.id, profile: profile, redirectURIs: [try #require(RedirectURI(Self.redirectURI))],
            askedBrowsers: .all, rotatesAlways: rotates, bindsTokens: always)
        #expect(try await SetRelyingParty.set(party, by: shop.actor, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
    }

    fileprivate func signInDevice(with key: ProvedKey?) async throws -> SignInDevice.Outcome {
        let assertion = DeviceAssertion(
            enrollment: device.enrollment, user: device.invitation.user, issuer: world.ports.issuer,
            client: "\(shop.id)", named: Hex.encode(world.random.bytes(16)), at: world.time.now)
        return try await SignInDevice.signIn(
            by: Secret(try await assertion.signed(by: device.authentication)), scopes: ["openid"], at: shop.id,
            with: key, ports: world.ports)
    }

    fileprivate func give(with key: ProvedKey?) async throws -> GiveClientToken.Outcome {
        try await GiveClientToken.give(scopes: nil, to: shop.id, with: key, ports: world.ports)
    }
}

// Spec: RFC 9449 §5, §6.1, §7.1, §7.2; RFC 7800 §3.1; RFC 9700 §2.2.2.
@Suite("Tokens that are bound to a key")
struct BoundTokenTests {
    private static let userinfoURI = "\(World.issuer)/oauth2/userinfo"

    @Test("RFC 9449 §6.1: a bound access token says to which key, and is shown with that key or not at all")
    func shown() async throws {
        let scene = try await SignInScene()
        let (prover, thief) = (Prover(scene.world), Prover(scene.world))
        let tokens = try await scene.offline(with: try await prover.proved())
        #expect(tokens.isBound)
        let payload = try #require(Base64URL.decode(tokens.access.reveal().split(separator: ".")[1]))
        #expect(try JSONValue(parsing: payload)["cnf"] == ["jkt": .string(prover.thumbprint)])
        func show(_ token: Secret<String>, _ key: ProvedKey?) async throws -> ShowClaims.Outcome {
            try await ShowClaims.show(token, by: key, ports: scene.world.ports)
        }
        #expect(try await show(tokens.access, nil) == .invalidToken)
        let other = try await thief.proved("GET", Self.userinfoURI, for: tokens.access)
        #expect(try await show(tokens.access, other) == .invalidToken)
        let key = try await prover.proved("GET", Self.userinfoURI, for: tokens.access)
        guard case .claims(let user, _, _, let client) = try await show(tokens.access, key) else {
            throw World.Broken("claims")
        }
        #expect(user == scene.user && client == scene.shop.id)
        // What is bound to no key comes with none: a client that takes it for bound is wrong.
        let bearer = try await scene.tokens().tokens
        #expect(!bearer.isBound)
        #expect(try await show(bearer.access, nil) != .invalidToken)
        let needless = try await prover.proved("GET", Self.userinfoURI, for: bearer.access)
        #expect(try await show(bearer.access, needless) == .invalidToken)
        let state = try await IntrospectToken.introspect(
            tokens.access, by: scene.shop.id, ports: scene.world.ports)
        guard case .access(let access) = state else { throw World.Broken("state") }
        #expect(access.keyThumbprint == prover.binding)
    }

    @Test("A client's token for itself is bound as well")
    func clientToken() async throws {
        let scene = try await SignInScene(profile: .web)
        let (prover, thief) = (Prover(scene.world), Prover(scene.world))
        guard case .given(let tokens) = try await scene.give(with: try await prover.proved()) else {
            throw World.Broken("give")
        }
        #expect(tokens.isBound)
        let uri = "\(World.issuer)/v1/types"
        func authenticate(_ key: ProvedKey?) async throws -> Bool {
            let outcome = try await AuthenticateClient.authenticate(
                accessToken: tokens.access, by: key, ports: scene.world.ports)
            return outcome != .refused
        }
        #expect(try await !authenticate(nil))
        #expect(try await !authenticate(try await thief.proved("GET", uri, for: tokens.access)))
        #expect(try await authenticate(try await prover.proved("GET", uri, for: tokens.access)))
        let state = try await IntrospectToken.introspect(
            tokens.access, by: scene.shop.id, ports: scene.world.ports)
        guard case .client(let access) = state else { throw World.Broken("state") }
        #expect(access.keyThumbprint == prover.binding)
    }

    @Test("RFC 9449 §5.2: a client that is set so gets no token without a proof, and spends nothing by asking")
    func required() async throws {
        let scene = try await SignInScene()
        let prover = Prover(scene.world)
        let earlier = try await scene.offline().tokens.refresh
        try await scene.bind()
        let code = try await scene.offlineCode()
        #expect(try await scene.redeem(code, with: nil) == .unproved(.missing))
        guard case .redeemed = try await scene.redeem(code, with: try await prover.proved()) else {
            throw World.Broken("redeem")
        }
        #expect(try await scene.refresh(earlier, with: nil) == .unproved(.missing))
        #expect(try await scene.refreshed(earlier, with: try await prover.proved()).isBound)
        #expect(try await scene.signInDevice(with: nil) == .unproved(.missing))
        guard case .signedIn(let given) = try await scene.signInDevice(with: try await prover.proved()) else {
            throw World.Broken("device")
        }
        #expect(given.keyThumbprint == prover.binding)
        try await scene.bind(.web)
        guard case .unproved(.missing) = try await scene.give(with: nil) else { throw World.Broken("give") }
        guard case .given = try await scene.give(with: try await prover.proved()) else { throw World.Broken("given") }
    }

    @Test("RFC 9449 §10: a code of a request with dpop_jkt is for that key alone, and stays good for it")
    func code() async throws {
        let scene = try await SignInScene()
        let (prover, thief) = (Prover(scene.world), Prover(scene.world))
        let code = try await scene.offlineCode(boundTo: prover.thumbprint)
        #expect(try await scene.redeem(code, with: nil) == .invalid)
        #expect(try await scene.redeem(code, with: try await thief.proved()) == .invalid)
        guard case .redeemed = try await scene.redeem(code, with: try await prover.proved()) else {
            throw World.Broken("redeem")
        }
    }

    @Test("RFC 9449 §5: an app's refresh token is bound to the key; whoever has copied it gets and ends nothing")
    func keySwap() async throws {
        let scene = try await SignInScene()
        let (prover, thief) = (Prover(scene.world), Prover(scene.world))
        let tokens = try await scene.offline(with: try await prover.proved())
        for _ in 0..<2 {
            #expect(try await scene.refresh(tokens.refresh, with: nil) == .invalid)
            #expect(try await scene.refresh(tokens.refresh, with: try await thief.proved()) == .invalid)
        }
        // It is not replaced: it is worth nothing to anybody else.
        let next = try await scene.refreshed(tokens.refresh, with: try await prover.proved())
        #expect(next.isBound)
        #expect(try #require(next.refresh).isSame(as: try #require(tokens.refresh)))
        // Where the settings have it replaced all the same, a thief without the key cannot end what is left.
        try await scene.bind(rotates: true)
        let second = try await scene.refreshed(tokens.refresh, with: try await prover.proved())
        let third = try await scene.refreshed(second.refresh, with: try await prover.proved())
        #expect(try await scene.refresh(tokens.refresh, with: try await thief.proved()) == .invalid)
        let fourth = try await scene.refreshed(third.refresh, with: try await prover.proved())
        #expect(try await scene.refresh(tokens.refresh, with: try await prover.proved()) == .invalid)
        #expect(try await scene.refresh(fourth.refresh, with: try await prover.proved()) == .invalid, "a real reuse")
    }

    @Test("What began without a key goes on without one, and is replaced at each use as before")
    func unbound() async throws {
        let scene = try await SignInScene()
        let first = try await scene.offline().tokens.refresh
        let second = try await scene.refreshed(first, with: nil)
        #expect(!second.isBound)
        #expect(try #require(second.refresh).isSame(as: try #require(first)) == false)
        let prover = Prover(scene.world)
        let bound = try await scene.refreshed(second.refresh, with: try await prover.proved())
        #expect(bound.isBound)
        #expect(try await !scene.refreshed(bound.refresh, with: nil).isBound)
    }

    @Test("A client that proves who it is may change its key, and not go back to none")
    func confidential() async throws {
        let scene = try await SignInScene(profile: .web)
        let (prover, next) = (Prover(scene.world), Prover(scene.world))
        let tokens = try await scene.offline(with: try await prover.proved())
        #expect(try await scene.refresh(tokens.refresh, with: nil) == .invalid)
        guard
            case .refreshed(let given) = try await scene.refresh(tokens.refresh, with: try await next.proved())
        else { throw World.Broken("refresh") }
        #expect(given.keyThumbprint == next.binding && given.family.keyThumbprint == prover.binding)
    }

    @Test("RFC 9449 §11.1: a proof counts once, at whatever server, and what it asked for stays to be had")
    func replayed() async throws {
        let scene = try await SignInScene(.chosen)
        let other = try await scene.world.reopened()
        try await other.store.refreshKeys()
        let prover = Prover(scene.world)
        let key = try await prover.proved()
        let tokens = try await scene.offline(with: key)
        let code = try await scene.offlineCode()
        for ports in [scene.world.ports, other.ports] {
            #expect(try await scene.redeem(code, with: key, at: ports) == .unproved(.replayed))
            #expect(try await scene.refresh(tokens.refresh, with: key, at: ports) == .unproved(.replayed))
        }
        #expect(try await scene.signInDevice(with: key) == .unproved(.replayed))
        guard case .redeemed = try await scene.redeem(code, with: try await prover.proved(), at: other.ports) else {
            throw World.Broken("redeem")
        }
        #expect(try await scene.refreshed(tokens.refresh, with: try await prover.proved()).isBound)
        try await scene.bind(.web, always: false)
        guard case .unproved(.replayed) = try await scene.give(with: key) else { throw World.Broken("give") }
        // Two keys may have given their proofs the same name.
        let name = KeyProof(
            method: "POST", uri: Prover.tokenURI, named: "same", at: scene.world.time.now,
            nonce: ProvedKey.nonce(ports: scene.world.ports), for: nil)
        for somebody in [prover, Prover(scene.world)] {
            let key = try ProvedKey.verify(
                try await name.signed(by: somebody.key), method: "POST", uri: Prover.tokenURI, ports: scene.world.ports)
            guard case .given = try await scene.give(with: key) else { throw World.Broken("same name") }
        }
    }

    @Test("Of several requests with one proof at the same time, one gets something")
    func atOnceWithOneProof() async throws {
        let scene = try await SignInScene(.chosen)
        let prover = Prover(scene.world)
        let tokens = try await scene.offline(with: try await prover.proved())
        let key = try await prover.proved()
        let outcomes = try await atOnce(8) { _ in try await scene.refresh(tokens.refresh, with: key) }
        #expect(outcomes.count { if case .refreshed = $0 { true } else { false } } == 1, "\(outcomes)")
        #expect(outcomes.count { $0 == .unproved(.replayed) } == 7, "\(outcomes)")
    }

    @Test("Proofs beside access tokens are spent in memory, each once, and no others than those that were shown")
    func spentInMemory() async throws {
        let scene = try await SignInScene()
        let prover = Prover(scene.world)
        let key = try await prover.proved()
        let ports = scene.world.ports
        for _ in 0..<2 { #expect(try ports.spend(nil)) }
        #expect(try ports.spend(key))
        #expect(try !ports.spend(key))
        #expect(try ports.spend(try await prover.proved()))
    }

    @Test("A ticket is given once for a proof, at whatever server; the same token gives it again for another proof")
    func ticket() async throws {
        let scene = try await AccountScene(.chosen)
        let ports = scene.world.ports
        let other = try await scene.world.reopened()
        try await other.store.refreshKeys()
        let prover = Prover(scene.world)
        var given = UnsignedTokens(
            family: try await scene.shop.tokens().family,
            target: AccessTarget(resource: nil, scopes: [Ticket.scope]), isIdentified: false, nonce: nil,
            party: try #require(try await scene.world.store.read { try $0.relyingParties.find(scene.shop.shop.id) }))
        given.keyThumbprint = prover.binding
        let token = try await SignTokens.sign(given, ports: ports).access
        let uri = "\(World.issuer)/v1/enrollment-tickets"
        #expect(try await ExchangeForTicket.exchange(token, ports: ports) == .invalidToken)
        let key = try await prover.proved("POST", uri, for: token)
        let first = try await ExchangeForTicket.exchange(token, by: key, ports: ports)
        guard case .created = first else { throw World.Broken("ticket") }
        for ports in [ports, other.ports] {
            #expect(try await ExchangeForTicket.exchange(token, by: key, ports: ports) == .replayed)
        }
        let again = try await prover.proved("POST", uri, for: token)
        #expect(try await ExchangeForTicket.exchange(token, by: again, ports: other.ports) == first)
    }
}
