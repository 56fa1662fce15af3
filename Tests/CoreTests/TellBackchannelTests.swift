import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: CIBA Core 1.0 §10.2, §10.3, §12.
@Suite("A client's server is told that somebody has decided")
struct TellBackchannelTests {
    // Spec: CIBA Core 1.0 §9, §10.2.
    @Test(
        "CIBA Core 1.0 §10.2: a ping has the id of the request alone, for a yes and for a no, and not for the end of the time",
        arguments: [Decision.denied, .reported, .approved(.confirm, number: nil)])
    func ping(_ decision: Decision) async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.ping)
        let begun = try await scene.begin()
        #expect(begun.interval == 5)
        #expect(try await scene.told() == [])
        try await scene.shop.answer(try await scene.signIn(begun)) { number in
            if case .approved = decision { .approved(.confirm, number: number) } else { decision }
        }
        #expect(try await scene.told() == [.decided])
        let body = try #require(try await scene.posted(begun))
        #expect(body.object?.members.map(\.name) == ["auth_req_id"])
        #expect(try await scene.posted(begun, .expired) == nil)
        // What is told is fetched, as by a poll.
        let outcome = try await scene.poll(begun)
        if case .approved = decision {
            guard case .redeemed = outcome else { throw World.Broken("\(outcome)") }
        } else {
            #expect(outcome == .denied)
        }
        let late = try await scene.begin()
        scene.world.time.advance(seconds: 121)
        #expect(try await scene.poll(late) == .expired)
        #expect(try await !scene.told().contains(.expired))
    }

    @Test("A ping may come twice: the poll after the second one gets nothing, and ends nothing")
    func pingedTwice() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.ping)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        #expect(try await scene.posted(begun) != nil)
        let tokens = try await SignTokens.sign(try await scene.tokens(begun), ports: scene.world.ports)
        #expect(try await scene.posted(begun) != nil)
        #expect(try await scene.poll(begun) == .invalid)
        #expect(try await scene.shop.isGood(tokens))
    }

    // Spec: CIBA Core 1.0 §10.3.1; OpenID Connect Core 1.0 §3.1.3.6.
    @Test(
        "CIBA Core 1.0 §10.3.1: tokens are brought with an ID token that names the request and their hashes",
        arguments: Engine.allCases)
    func push(_ engine: Engine) async throws {
        let scene = try await BackchannelScene(engine, BackchannelScene.push)
        let begun = try await scene.begin(scene.request { $0.scopes = ["openid", "offline_access"] })
        #expect(begun.interval == nil)
        // Spec: CIBA Core 1.0 §11.
        #expect(try await scene.poll(begun) == .clientGone)
        try await scene.approve(begun)
        #expect(try await scene.told() == [.decided])
        let body = try #require(try await scene.posted(begun))
        #expect(body["token_type"] == "Bearer" && body["expires_in"] == 600)
        let access = try #require(body["access_token"]?.string)
        let refresh = try #require(body["refresh_token"]?.string)
        let keys = try scene.world.ports.keys.current().tokens.published
        let verified = try JWS.verify(
            try #require(body["id_token"]?.string), algorithms: [.rs256], type: .exactly("JWT"), keys: keys)
        let claims = try JSONValue(parsing: verified.payload)
        func half(_ text: String) -> JSONValue {
            .string(Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(16))))
        }
        #expect(claims["at_hash"] == half(access))
        #expect(claims["urn:openid:params:jwt:claim:rt_hash"] == half(refresh))
        #expect(claims["urn:openid:params:jwt:claim:auth_req_id"] == .string(begun.authRequestID.reveal()))
        guard case .refreshed = try await scene.shop.refresh(Secret(refresh)) else { throw World.Broken("refresh") }
        // The end of the time tells nothing more.
        scene.world.time.advance(seconds: 121)
        #expect(try await scene.posted(begun, .expired) == nil)
    }

    @Test("Where a try has failed, the next one is about the same tokens, until they end")
    func again() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        let first = try #require(try await scene.posted(begun))
        scene.world.time.advance(seconds: 200)
        let second = try #require(try await scene.posted(begun))
        #expect(first["access_token"] != second["access_token"] && second["expires_in"] == 400)
        #expect(try await scene.world.count("token_families") == 1)
        #expect(second["refresh_token"] == nil)
    }

    @Test("Tokens that have ended before they were brought are a failed transaction")
    func ended() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        _ = try await scene.posted(begun)
        scene.world.time.advance(seconds: 601)
        #expect(try await scene.posted(begun)?["error"] == "transaction_failed")
        let second = try await scene.begin()
        try await scene.approve(second)
        try await scene.shop.end(.device)
        let body = try #require(try await scene.posted(second))
        #expect(body["error"] == "transaction_failed" && body["access_token"] == nil)
    }

    // Spec: CIBA Core 1.0 §10.3.1.
    @Test("CIBA Core 1.0 §10.3.1: tokens that the client's server refuses, or never takes, end; another try keeps them")
    func givenUp() async throws {
        let scene = try await BackchannelScene(.chosen, BackchannelScene.push)
        let world = scene.world
        for reason in ["the receiver answered 401", EndedAttempt.tooLate] {
            let begun = try await scene.begin(scene.request { $0.scopes = ["openid", "offline_access"] })
            try await scene.approve(begun)
            let refresh = try #require(try await scene.posted(begun)?["refresh_token"]?.string)
            let message = try await scene.message(begun)
            let now = world.time.now
            try await world.record(.retried("the receiver answered 503", at: now), of: message, at: now)
            #expect(try await scene.endedTokens(begun) == nil)
            try await world.record(.abandoned(reason), of: message, at: now, after: 1)
            #expect(try await scene.endedTokens(begun) == now)
            guard case .refreshed = try await scene.shop.refresh(Secret(refresh)) else {
                // An operator who has it sent again has the client told.
                #expect(try await scene.posted(begun)?["error"] == "transaction_failed")
                continue
            }
            throw World.Broken("refreshed")
        }
        let ended = try await world.audit().filter { $0.kind == .tokensEnded }
        #expect(ended.map { $0.detail["reason"] } == ["not_delivered", "not_delivered"])
        #expect(ended.allSatisfy { $0.client == scene.client && $0.user == scene.user })
    }

    @Test("What a client was to be brought ends when it is given up, also where the client polls or is pinged by now")
    func switched() async throws {
        for delivery in [RelyingParty.Backchannel.Delivery.poll, BackchannelScene.ping] {
            let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
            let begun = try await scene.begin()
            try await scene.approve(begun)
            #expect(try await scene.posted(begun)?["access_token"] != nil)
            let (message, now) = (try await scene.message(begun), scene.world.time.now)
            try await scene.set(delivery)
            try await scene.world.record(.abandoned(EndedAttempt.tooLate), of: message, at: now, after: 1)
            #expect(try await scene.endedTokens(begun) == now)
        }
    }

    @Test("What a client was to be brought it does not fetch, also where it polls or is pinged by now")
    func notFetched() async throws {
        for delivery in [RelyingParty.Backchannel.Delivery.poll, BackchannelScene.ping] {
            let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
            let begun = try await scene.begin()
            try await scene.approve(begun)
            try await scene.set(delivery)
            #expect(try await scene.poll(begun) == .invalid)
            #expect(try await scene.world.count("token_families") == 0)
            let next = try await scene.begin()
            try await scene.approve(next)
            _ = try await scene.tokens(next)
        }
    }

    @Test("Tokens that were brought before the server was killed stay, though it is back too late to bring them again")
    func lostResult() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        #expect(try await scene.posted(begun)?["access_token"] != nil)
        let (message, now) = (try await scene.message(begun), scene.world.time.now)
        try await scene.world.record(.abandoned(EndedAttempt.tooLate), of: message, at: now)
        #expect(try await scene.endedTokens(begun) == nil)
    }

    @Test("What is given up before anything was given ends nothing, nor does the news that nobody has answered")
    func nothingGivenUp() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let now = scene.world.time.now
        let early = try await scene.begin()
        try await scene.approve(early)
        try await scene.world.record(.abandoned("gone"), of: try await scene.message(early), at: now)
        let taken = try await scene.begin()
        try await scene.approve(taken)
        _ = try await scene.posted(taken)
        try await scene.world.record(.delivered, of: try await scene.message(taken), at: now)
        scene.world.time.advance(seconds: 120)
        let late = try await scene.message(taken, .expired)
        try await scene.world.record(.abandoned("gone"), of: late, at: scene.world.time.now)
        #expect(try await scene.endedTokens(taken) == nil)
        #expect(try await !scene.world.audit().contains { $0.kind == .tokensEnded })
    }

    @Test(
        "A ping that is given up ends nothing: its client has fetched the tokens, also where it is pushed to by now",
        arguments: [false, true])
    func pingGivenUp(_ isSwitched: Bool) async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.ping)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        let tokens = try await SignTokens.sign(try await scene.tokens(begun), ports: scene.world.ports)
        let message = try await scene.message(begun)
        if isSwitched { try await scene.set(BackchannelScene.push) }
        try await scene.world.record(.abandoned("gone"), of: message, at: scene.world.time.now)
        #expect(try await scene.shop.isGood(tokens))
    }

    @Test("That nobody has answered is not told before the end, whoever looks at the message: a yes still counts")
    func early() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let begun = try await scene.begin()
        let end = try await scene.signIn(begun).expiresAt
        scene.world.time.advance(seconds: 119)
        let outcome = try await TellBackchannel.notification(
            of: try scene.id(begun), .expired, to: scene.client, ports: scene.world.ports)
        guard case .early(let until) = outcome else { throw World.Broken("told") }
        #expect(until == end)
        try await scene.approve(begun)
        #expect(try await scene.posted(begun)?["access_token"] != nil)
    }

    // Spec: CIBA Core 1.0 §12.
    @Test("CIBA Core 1.0 §12: a no is brought, and that nobody has answered, whoever was named")
    func failures() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let begun = try await scene.begin()
        try await scene.shop.answer(try await scene.signIn(begun)) { _ in .denied }
        #expect(try await scene.told() == [.decided])
        #expect(try await scene.posted(begun)?["error"] == "access_denied")
        scene.world.time.advance(seconds: 120)
        #expect(try await scene.posted(begun, .expired) == nil)
        for name in [BackchannelScene.name, "nobody@example.com"] {
            let begun = try await scene.begin(scene.request(for: .name(name)))
            let before = try await scene.told().count { $0 == .expired }
            scene.world.time.advance(seconds: 120)
            #expect(try await scene.told().count { $0 == .expired } == before + 1)
            let body = try #require(try await scene.posted(begun, .expired))
            #expect(body["error"] == "expired_token", "\(name)")
            #expect(body.object?.members.map(\.name) == ["error", "error_description", "auth_req_id"])
        }
    }

    // Spec: CIBA Core 1.0 §5.
    @Test("CIBA Core 1.0 §5: what is brought is bound to the key that asked; who needs one must prove it then")
    func bound() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        try await scene.set(BackchannelScene.push, bindsTokens: true)
        guard case .unproved(.missing) = try await scene.outcome(scene.request()) else { throw World.Broken("begun") }
        let prover = Prover(scene.world)
        let key = try await prover.proved()
        let begun = try await scene.begin(scene.request { $0.key = key })
        try await scene.approve(begun)
        for _ in 0..<2 {
            let body = try #require(try await scene.posted(begun))
            #expect(body["token_type"] == "DPoP")
            let payload = try #require(body["access_token"]?.string?.split(separator: ".")[1])
            let claims = try JSONValue(parsing: try #require(Base64URL.decode(payload)))
            #expect(claims["cnf"]?["jkt"] == .string(prover.thumbprint))
        }
    }

    // Spec: RFC 8705 §3.1.
    @Test("RFC 8705 §3.1: what is brought is bound to the certificate that asked")
    func boundToCertificate() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let key = ProvedKey(ClientCertificate([1], isVerified: true))
        let begun = try await scene.begin(scene.request { $0.key = key })
        try await scene.approve(begun)
        for _ in 0..<2 {
            let body = try #require(try await scene.posted(begun))
            #expect(body["token_type"] == "Bearer")
            let payload = try #require(body["access_token"]?.string?.split(separator: ".")[1])
            let claims = try JSONValue(parsing: try #require(Base64URL.decode(payload)))
            #expect(claims["cnf"] == ["x5t#S256": .string(key.thumbprint.member.value)])
        }
    }

    @Test("Tokens for several APIs cannot be brought")
    func severalResources() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.push)
        var identifiers: [ResourceIdentifier] = []
        for name in ["orders", "letters"] {
            let api = try await scene.world.makeClient(name).client
            let identifier = try #require(ResourceIdentifier("https://\(name).example/"))
            let party = RelyingParty(
                client: api.id, profile: .web, redirectURIs: [],
                resource: ProtectedResource(identifier: identifier, scopes: ["read"]))
            #expect(try await SetRelyingParty.set(party, by: .system, ports: scene.world.ports) == .set(party))
            identifiers.append(identifier)
        }
        try await scene.set(BackchannelScene.push, resources: identifiers)
        let both = identifiers.map { "\($0)" }
        let several = scene.request { request in
            request.scopes = ["openid", "read"]
            request.resources = both
        }
        guard case .notGiven(.unknownResource) = try await scene.outcome(several) else { throw World.Broken("begun") }
        let one = scene.request { request in
            request.scopes = ["openid", "read"]
            request.resources = [both[0]]
        }
        let begun = try await scene.begin(one)
        try await scene.approve(begun)
        #expect(try await scene.posted(begun)?["scope"] == "read")
    }

    @Test("A disabled client is told later; one that is registered no more, or polls now, is told nothing")
    func disabled() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.ping)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        let id = try scene.id(begun)
        func outcome() async throws -> TellBackchannel.Outcome {
            try await TellBackchannel.notification(of: id, .decided, to: scene.client, ports: scene.world.ports)
        }
        try await scene.shop.end(.clientDisabled)
        guard case .disabled = try await outcome() else { throw World.Broken("disabled") }
        _ = try await EnableClient.enable(scene.client, by: .system, ports: scene.world.ports)
        guard case .posted = try await outcome() else { throw World.Broken("posted") }
        try await scene.set(.poll)
        guard case .unwanted = try await outcome() else { throw World.Broken("unwanted") }
        try await scene.set(nil)
        guard case .unwanted = try await outcome() else { throw World.Broken("unwanted") }
    }

    @Test("Nothing is told of a user who was deleted meanwhile")
    func deletedUser() async throws {
        let scene = try await BackchannelScene(.sqlite, BackchannelScene.ping)
        let begun = try await scene.begin()
        try await scene.approve(begun)
        try await scene.shop.end(.link)
        #expect(try await scene.posted(begun) == nil)
        #expect(try await scene.poll(begun) == .invalid)
    }

    @Test("Who polls is told nothing, and no row of the outbox has the token of a client, or one of ours")
    func silent() async throws {
        let scene = try await BackchannelScene()
        let begun = try await scene.begin()
        try await scene.approve(begun)
        #expect(try await scene.told() == [])
        let pushed = try await BackchannelScene(.sqlite, BackchannelScene.push)
        let second = try await pushed.begin()
        try await pushed.approve(second)
        let now = pushed.world.time.now
        for leased in try await pushed.world.store.lease(.backchannel, limit: 10, now: now, until: now) {
            guard case .backchannel(_, _, let id, _) = leased.message.content else { throw World.Broken("content") }
            #expect(try id == pushed.id(second))
        }
    }
}
