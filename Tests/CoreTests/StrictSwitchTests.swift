import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

extension SignInScene {
    /// Makes the shop strict.
    fileprivate func makeStrict(asking delivery: RelyingParty.Backchannel.Delivery? = nil) async throws {
        let party = RelyingParty(
            client: shop.id, profile: .strict, redirectURIs: [try #require(RedirectURI(Self.redirectURI))],
            askedBrowsers: .all, keySet: JWKSet([JWK(P256.Signing.PrivateKey().publicKey)]).json,
            backchannel: delivery.map { RelyingParty.Backchannel(delivery: $0, algorithm: .es256) })
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
    }

    fileprivate func redeem(_ code: Secret<String>, with key: ProvedKey?) async throws -> RedeemCode.Outcome {
        let request = RedeemCode.Request(
            code: code, redirectURI: Self.redirectURI, verifier: Secret(Self.verifier), key: key)
        return try await RedeemCode.redeem(request, by: shop.id, ports: world.ports)
    }

    /// The code of a sign-in that the phone approves.
    fileprivate func code(_ change: (inout Wanted) -> Void) async throws -> Secret<String> {
        var wanted = try wanted()
        change(&wanted)
        guard case .asked(let asked) = try await ask(wanted, by: .device) else { throw World.Broken("ask") }
        try await approve(asked)
        guard case .finished(let finished) = try await finish(asked) else { throw World.Broken("finish") }
        return finished.code
    }

    /// Tokens with a refresh token, bound to a key or to nothing.
    fileprivate func offline(with key: ProvedKey?, isStrict: Bool = false) async throws -> SignedTokens {
        let code = try await code { wanted in
            wanted.scopes.append(TokenFamily.offlineAccess)
            wanted.isStrict = isStrict
        }
        guard case .redeemed(let given) = try await redeem(code, with: key) else { throw World.Broken("redeem") }
        return try await SignTokens.sign(given, ports: world.ports)
    }

    fileprivate func refresh(_ tokens: SignedTokens, with key: ProvedKey?) async throws -> RefreshTokens.Outcome {
        try await RefreshTokens.refresh(
            try #require(tokens.refresh), scopes: nil, by: shop.id, with: key, ports: world.ports)
    }
}

// Spec: FAPI 2.0 Security Profile §5.3.2.1, §5.3.2.2; docs/decisions/0095-strict-clients-and-authorization-details.md.
@Suite("What began before a client was strict gives it nothing, by whichever door")
struct StrictSwitchTests {
    @Test("A code from a page: also where the page was not done, and only from a request of a strict client")
    func page() async throws {
        let scene = try await SignInScene(profile: .web)
        let prover = Prover(scene.world)
        let code = try await scene.signedIn().code
        let open = try await scene.asked()
        try await scene.approve(open)
        try await scene.makeStrict()
        #expect(try await scene.redeem(code, with: try await prover.proved()) == .invalid)
        guard case .finished(let finished) = try await scene.finish(open) else { throw World.Broken("finish") }
        #expect(try await scene.redeem(finished.code, with: try await prover.proved()) == .invalid)
        let next = try await scene.code { $0.isStrict = true }
        guard case .redeemed = try await scene.redeem(next, with: try await prover.proved()) else {
            throw World.Broken("redeem")
        }
    }

    @Test("A token that the client got for itself, and that is bound to nothing")
    func clientToken() async throws {
        let scene = try await SignInScene(profile: .web)
        let ports = scene.world.ports
        guard
            case .given(let tokens) = try await GiveClientToken.give(
                scopes: nil, to: scene.shop.id, with: nil, ports: ports)
        else { throw World.Broken("give") }
        #expect(try await AuthenticateClient.authenticate(accessToken: tokens.access, ports: ports) != .refused)
        try await scene.makeStrict()
        #expect(try await AuthenticateClient.authenticate(accessToken: tokens.access, ports: ports) == .refused)
    }

    @Test(
        "Nobody is asked any more: open questions end, and no other one is put; what is not about a sign-in stays",
        arguments: Engine.allCases)
    func notAsked(_ engine: Engine) async throws {
        let scene = try await BackchannelScene(engine)
        let (world, shop) = (scene.world, scene.shop)
        try await world.makeType()
        let own = try await world.ask(try world.request(for: scene.user), by: shop.shop)
        let (begun, page) = (try await scene.begin(), try await shop.asked())
        let late = try await shop.begin(scene.request())
        try await shop.makeStrict(asking: .poll)
        for asked in [try await scene.signIn(begun), page] {
            let id = try #require(asked.ask?.challenge)
            let state = try await world.store.read { try $0.challenges.find(id)?.state.status.state }
            #expect(state == "cancelled")
        }
        #expect(try await world.challenge(own).state.status.state == "pending")
        // As where there is nobody to ask.
        guard case .pending = try await scene.poll(begun) else { throw World.Broken("poll") }
        try await shop.put(try await scene.signIn(late))
        #expect(try await !scene.isPut(late))
        let next = try await scene.begin()
        #expect(try await scene.isPut(next))
        // Settings that are set again end nothing.
        try await shop.makeStrict(asking: .poll)
        try await scene.approve(next)
    }

    @Test("A page that was opened before asks nobody, by neither way", arguments: [SignInWay.device, .qr])
    func oldPage(_ way: SignInWay) async throws {
        let scene = try await SignInScene(profile: .web)
        let wanted = try scene.wanted()
        guard case .asked = try await scene.ask(wanted, by: way) else { throw World.Broken("ask") }
        try await scene.makeStrict()
        let (before, messages) = (try await scene.world.count("challenges"), try await scene.world.count("outbox"))
        #expect(try await scene.ask(wanted, by: way) == .tooLate)
        #expect(try await scene.world.count("challenges") == before)
        #expect(try await scene.world.count("outbox") == messages)
    }

    @Test("It travels with a page and with a pushed request")
    func travels() async throws {
        let scene = try await SignInScene(profile: .web)
        for isStrict in [true, false] {
            var wanted = try scene.wanted()
            wanted.isStrict = isStrict
            #expect(Wanted(wanted.json) == wanted)
            let uri = try PushedRequest.seal(
                "client_id=x", of: scene.shop.id, isStrict: isStrict, ports: scene.world.ports)
            let opened = try await PushedRequest.open(
                try #require(uri), of: scene.shop.id, ports: scene.world.ports)
            guard case .good(let request) = opened else { throw World.Broken("open") }
            #expect(request.isStrict == isStrict)
        }
    }

    @Test("A device code: a strict client signs nobody in on a device")
    func deviceCode() async throws {
        let scene = try await DeviceGrantScene()
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await scene.shop.approve(try await scene.signIn(begun))
        try await scene.shop.makeStrict()
        #expect(try await scene.poll(begun) == .clientGone)
    }

    @Test("A request of the client's server that it polls for; the next one gives tokens")
    func poll() async throws {
        let scene = try await BackchannelScene()
        let prover = Prover(scene.world)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        try await scene.shop.makeStrict(asking: .poll)
        #expect(try await scene.poll(begun, with: try await prover.proved()) == .invalid)
        let next = try await scene.begin()
        try await scene.approve(next)
        guard case .redeemed = try await scene.poll(next, with: try await prover.proved()) else {
            throw World.Broken("poll")
        }
    }

    @Test("A request whose client is told to poll: it is told, and gets nothing")
    func ping() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.ping)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        try await scene.shop.makeStrict(asking: BackchannelScene.ping)
        #expect(try await scene.posted(begun)?.object?.members.map(\.name) == ["auth_req_id"])
        #expect(try await scene.poll(begun, with: try await Prover(scene.world).proved()) == .invalid)
    }

    @Test("Tokens that would be brought, or were brought in vain; and no poll gets them instead")
    func push() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let (given, begun) = (try await scene.begin(), try await scene.begin())
        for asked in [given, begun] { try await scene.approve(asked) }
        #expect(try await scene.posted(given)?["access_token"] != nil)
        // Strict clients have no push.
        try await scene.shop.makeStrict(asking: .poll)
        for asked in [given, begun] {
            #expect(try await scene.posted(asked) == nil)
            #expect(try await scene.poll(asked, with: try await Prover(scene.world).proved()) == .invalid)
        }
    }

    @Test(
        "A refresh token, bound to nothing or by a proof, and its access tokens; those given since last",
        arguments: Engine.allCases)
    func refreshToken(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine, profile: .web)
        let prover = Prover(scene.world)
        let earlier = [
            try await scene.offline(with: nil), try await scene.offline(with: try await prover.proved()),
        ]
        try await scene.makeStrict()
        for tokens in earlier {
            #expect(try await scene.refresh(tokens, with: try await prover.proved()) == .invalid)
        }
        #expect(try await !scene.isGood(earlier[0]))
        let ended = try await scene.world.audit().filter { $0.kind == .tokensEnded }
        #expect(ended.map { $0.detail["reason"] } == ["client_strict"] && ended.first?.client == scene.shop.id)
        let tokens = try await scene.offline(with: try await prover.proved(), isStrict: true)
        // Settings that are set again end nothing.
        try await scene.makeStrict()
        guard case .refreshed = try await scene.refresh(tokens, with: try await prover.proved()) else {
            throw World.Broken("refresh")
        }
    }
}
