import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 8707 §2 and §2.2, RFC 9068 §2.2, §3 and §4; docs/decisions/0085-tokens-for-apis.md.
@Suite("Tokens for APIs")
struct ResourceTests {
    /// A shop that signs people in, and two APIs, each with a scope `read`.
    struct Scene: Sendable {
        let shop: SignInScene
        let orders: Client
        let mail: Client

        var world: World { shop.world }

        init(_ engine: Engine = .sqlite, isThirdParty: Bool = false) async throws {
            shop = try await SignInScene(engine, isThirdParty: isThirdParty)
            orders = try await shop.world.makeClient("Orders").client
            mail = try await shop.world.makeClient("Letters").client
            #expect(try await setAPI(orders, "https://orders.example/", ["read", "orders.write"]) == nil)
            #expect(try await setAPI(mail, "urn:example:mail", ["read", "challenges"]) == nil)
            try await allow(["https://orders.example/", "urn:example:mail"])
        }

        static func id(_ text: String) throws -> ResourceIdentifier { try #require(ResourceIdentifier(text)) }

        /// Registers an API; nil if it was set.
        func setAPI(_ client: Client, _ identifier: String, _ scopes: [String]) async throws -> SetRelyingParty.Outcome?
        {
            let party = RelyingParty(
                client: client.id, profile: .web, redirectURIs: [],
                resource: ProtectedResource(identifier: try Self.id(identifier), scopes: scopes))
            let outcome = try await SetRelyingParty.set(party, by: .system, ports: world.ports)
            return outcome == .set(party) ? nil : outcome
        }

        /// Lets the shop have tokens for these APIs.
        func allow(_ resources: [String]) async throws {
            let party = RelyingParty(
                client: shop.shop.id, profile: .native,
                redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], askedBrowsers: .all,
                resources: try resources.map { try Self.id($0) })
            #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
            try await world.store.refreshKeys()
        }

        func wanted(_ scopes: [String], at resources: [String]) async throws -> WantedAccess {
            let id = shop.shop.id
            let party = try #require(try await world.store.read { try $0.relyingParties.find(id) })
            return try await WantedAccess.of(scopes, at: resources, for: party, ports: world.ports)
        }

        /// What the shop wants with these scopes at these APIs.
        func wish(_ scopes: [String], at resources: [String]) async throws -> Wanted {
            guard case .scopes(let own, let apis) = try await wanted(scopes, at: resources) else {
                throw World.Broken("scopes")
            }
            var wanted = try shop.wanted()
            (wanted.scopes, wanted.resources) = (own, apis)
            return wanted
        }

        /// What comes of a sign-in with these scopes at these APIs, which the phone approves.
        func signIn(
            _ scopes: [String], at resources: [String], answer: ConsentAnswer = .none
        ) async throws -> FinishSignIn.Outcome {
            let wish = try await wish(scopes, at: resources)
            guard case .asked(let asked) = try await shop.ask(wish, by: .device) else { throw World.Broken("ask") }
            try await shop.approve(asked)
            return try await shop.finish(asked, answer: answer)
        }

        /// The code of a sign-in with these scopes at these APIs.
        func code(
            _ scopes: [String], at resources: [String], answer: ConsentAnswer = .none
        ) async throws -> Secret<String> {
            guard case .finished(let finished) = try await signIn(scopes, at: resources, answer: answer) else {
                throw World.Broken("finish")
            }
            return finished.code
        }

        func redeem(_ code: Secret<String>, for resources: [String]) async throws -> RedeemCode.Outcome {
            let request = RedeemCode.Request(
                code: code, redirectURI: SignInScene.redirectURI, verifier: Secret(SignInScene.verifier),
                resources: resources)
            return try await RedeemCode.redeem(request, by: shop.shop.id, ports: world.ports)
        }

        /// The tokens of a redemption.
        func tokens(_ code: Secret<String>, for resources: [String]) async throws -> SignedTokens {
            guard case .redeemed(let given) = try await redeem(code, for: resources) else {
                throw World.Broken("redeem")
            }
            return try await SignTokens.sign(given, ports: world.ports)
        }

        func refreshed(
            _ token: Secret<String>?, scopes: [String]? = nil, for resources: [String]
        ) async throws -> SignedTokens? {
            let outcome = try await RefreshTokens.refresh(
                try #require(token), scopes: scopes, at: resources, by: shop.shop.id, ports: world.ports)
            if outcome == .unknownResource { return nil }
            guard case .refreshed(let given) = outcome else { throw World.Broken("refresh") }
            return try await SignTokens.sign(given, ports: world.ports)
        }

        /// The scopes that a caller learns of a token; nil if it is told that the token is not good.
        func scopes(of token: Secret<String>, by client: Client) async throws -> [String]? {
            switch try await IntrospectToken.introspect(token, by: client.id, ports: world.ports) {
            case .access(let access): access.scopes
            case .client(let access): access.scopes
            case .refresh(let family): family.scopes
            case .inactive: nil
            }
        }
    }

    static func claims(_ token: Secret<String>) throws -> JSONValue {
        try JSONValue(parsing: try #require(Base64URL.decode(String(token.reveal().split(separator: ".")[1]))))
    }

    static let (orders, mail) = ("https://orders.example/", "urn:example:mail")

    @Test(
        "A token has the audience and the scopes of one API, and is worth nothing here or at another",
        arguments: Engine.allCases)
    func audience(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let code = try await scene.code(["openid", "read", "orders.write"], at: [Self.orders])
        // Without a resource the token is for what was given.
        let tokens = try await scene.tokens(code, for: [])
        let claims = try Self.claims(tokens.access)
        #expect(claims["aud"] == .string(Self.orders) && claims["scope"] == "read orders.write")
        #expect(claims["sub"] == .string("\(scene.shop.user)") && tokens.scopes == ["read", "orders.write"])
        #expect(tokens.identity != nil)
        #expect(try await ShowClaims.show(tokens.access, ports: scene.world.ports) == .invalidToken)
        #expect(try await ExchangeForTicket.exchange(tokens.access, ports: scene.world.ports) == .invalidToken)
        #expect(
            try await AuthenticateClient.authenticate(accessToken: tokens.access, ports: scene.world.ports) == .refused)
    }

    // Spec: RFC 7662 §2, §4.
    @Test("The client that got a token and the API that it is for may ask about it, and nobody else")
    func introspection() async throws {
        let scene = try await Scene()
        let code = try await scene.code(["openid", "read"], at: [Self.orders])
        let tokens = try await scene.tokens(code, for: [Self.orders])
        #expect(try await scene.scopes(of: tokens.access, by: scene.orders) == ["read"])
        #expect(try await scene.scopes(of: tokens.access, by: scene.shop.shop) == ["read"])
        #expect(try await scene.scopes(of: tokens.access, by: scene.mail) == nil)
        // A token for us is no API's business.
        let own = try await scene.tokens(try await scene.code(["openid"], at: []), for: [])
        #expect(try await scene.scopes(of: own.access, by: scene.orders) == nil)
        // Only the client takes it back.
        #expect(
            try await RevokeToken.revoke(tokens.access, by: scene.orders.id, ports: scene.world.ports) == .notYours)
        #expect(
            try await RevokeToken.revoke(tokens.access, by: scene.shop.shop.id, ports: scene.world.ports) == .revoked)
        #expect(try await scene.scopes(of: tokens.access, by: scene.orders) == nil)
    }

    @Test("A token is not good once the client may have none for the API, or the API is gone")
    func allowance() async throws {
        for ending in 0..<3 {
            let scene = try await Scene()
            let code = try await scene.code(["offline_access", "read"], at: [Self.orders])
            let tokens = try await scene.tokens(code, for: [Self.orders])
            #expect(try await scene.scopes(of: tokens.access, by: scene.orders) == ["read"])
            switch ending {
            case 0: try await scene.allow([Self.mail])
            case 1: _ = try await DisableClient.disable(scene.orders.id, by: .system, ports: scene.world.ports)
            default: _ = try await RemoveRelyingParty.remove(scene.orders.id, by: .system, ports: scene.world.ports)
            }
            #expect(try await scene.scopes(of: tokens.access, by: scene.orders) == nil)
            #expect(try await scene.refreshed(tokens.refresh, for: [Self.orders]) == nil)
            #expect(try await scene.refreshed(tokens.refresh, for: []) == nil)
            // What is ours goes on.
            let issuer = "\(scene.world.ports.issuer)"
            #expect(try await scene.refreshed(tokens.refresh, for: [issuer])?.scopes == ["offline_access"])
        }
    }

    @Test("Scopes that an API has no longer are in no new token, and others do not come by themselves")
    func changedScopes() async throws {
        let scene = try await Scene()
        let code = try await scene.code(["offline_access", "read", "orders.write"], at: [Self.orders])
        let tokens = try await scene.tokens(code, for: [])
        #expect(try await scene.setAPI(scene.orders, Self.orders, ["orders.write", "delete"]) == nil)
        let next = try #require(try await scene.refreshed(tokens.refresh, for: []))
        #expect(next.scopes == ["orders.write"])
    }

    @Test("Of several APIs each token is for one, which the request names")
    func several() async throws {
        let scene = try await Scene()
        let code = try await scene.code(["openid", "offline_access", "read"], at: [Self.orders, Self.mail])
        #expect(try await scene.redeem(code, for: []) == .unknownResource)
        #expect(try await scene.redeem(code, for: [Self.orders, Self.mail]) == .unknownResource)
        #expect(try await scene.redeem(code, for: ["https://other.example/"]) == .unknownResource)
        // The code is as good as before.
        let tokens = try await scene.tokens(code, for: [Self.mail])
        #expect(try Self.claims(tokens.access)["aud"] == .string(Self.mail))
        let next = try #require(try await scene.refreshed(tokens.refresh, for: [Self.orders]))
        #expect(try Self.claims(next.access)["aud"] == .string(Self.orders) && next.scopes == ["read"])
        let own = try #require(
            try await scene.refreshed(next.refresh, for: ["\(scene.world.ports.issuer)"]))
        #expect(own.scopes == ["openid", "offline_access"])
        #expect(try await scene.shop.isGood(own))
        #expect(try await scene.refreshed(own.refresh, for: []) == nil)
        // Neither API would know what an empty scope allows.
        for (scopes, resource) in [(["openid"], Self.orders), (["offline_access"], Self.mail)] {
            let outcome = try await RefreshTokens.refresh(
                try #require(own.refresh), scopes: scopes, at: [resource], by: scene.shop.shop.id,
                ports: scene.world.ports)
            #expect(try outcome == .nothing(at: Scene.id(resource)))
        }
        let fewer = try #require(
            try await scene.refreshed(own.refresh, scopes: ["read"], for: [Self.orders]))
        #expect(fewer.scopes == ["read"] && fewer.identity == nil)
        #expect(
            try await RefreshTokens.refresh(
                try #require(fewer.refresh), scopes: ["orders.write"], at: [Self.orders], by: scene.shop.shop.id,
                ports: scene.world.ports) == .scopeExceeded)
    }

    @Test("An API that was not given at the sign-in is given by no token request")
    func notGiven() async throws {
        let scene = try await Scene()
        let code = try await scene.code(["openid", "offline_access"], at: [])
        #expect(try await scene.redeem(code, for: [Self.orders]) == .unknownResource)
        let tokens = try await scene.tokens(code, for: [])
        #expect(try await scene.refreshed(tokens.refresh, for: [Self.orders]) == nil)
        #expect(try Self.claims(tokens.access)["aud"] == .string("\(scene.world.ports.issuer)"))
    }

    // Spec: RFC 3986 §4.3, §6.2.1.
    @Test("A client asks for those APIs alone that its operator has listed")
    func notAllowed() async throws {
        let scene = try await Scene()
        try await scene.allow([Self.orders])
        for resource in [Self.mail, "https://unknown.example/", "no uri", "https://orders.example", ""] {
            #expect(try await scene.wanted(["read"], at: [resource]) == .unknownResource, "\(resource)")
        }
        // Nothing is listed, so that a scope of an API is as unknown as any other.
        #expect(try await scene.wanted(["openid", "challenges"], at: []) == .scopes(["openid"], at: []))
        #expect(
            try await scene.wanted(["openid"], at: ["\(scene.world.ports.issuer)"]) == .scopes(["openid"], at: []))
        #expect(try await scene.wanted(["openid"], at: [Self.orders]) == .nothing(at: Scene.id(Self.orders)))
    }

    @Test("A scope of an API that the request does not name says which resource is missing")
    func scopeOfAnother() async throws {
        let scene = try await Scene()
        #expect(try await scene.wanted(["openid", "orders.write"], at: []) == .scopeOfAnother("orders.write"))
        #expect(
            try await scene.wanted(["read", "orders.write"], at: [Self.mail]) == .scopeOfAnother("orders.write"))
        #expect(try await scene.wanted(["openid", "nobody's"], at: []) == .scopes(["openid"], at: []))
    }

    @Test("Names of APIs are taken once, and their scopes are none of ours")
    func taken() async throws {
        let scene = try await Scene()
        #expect(try await scene.setAPI(scene.mail, Self.orders, ["a"]) == .resourceTaken)
        #expect(try await scene.setAPI(scene.mail, "\(scene.world.ports.issuer)", ["a"]) == .resourceTaken)
        #expect(try await scene.setAPI(scene.mail, Self.mail, ["a", "enroll"]) == .scopeTaken("enroll"))
        #expect(try await scene.setAPI(scene.orders, Self.orders, ["a"]) == nil)
        #expect(try await scene.setAPI(scene.orders, "https://orders.example/v2", ["a"]) == nil)
        #expect(try await scene.setAPI(scene.mail, Self.orders, ["a"]) == nil)
        // The name is free when the client is deleted.
        _ = try await DeleteClient.delete(scene.mail.id, by: .system, ports: scene.world.ports)
        #expect(try await scene.setAPI(scene.shop.shop, Self.orders, ["a"]) == nil)
    }

    @Test("Of two operators who give one name at once, on two nodes, one gives it", arguments: 0..<3)
    func takenAtOnce(_ round: Int) async throws {
        let scene = try await Scene(.chosen)
        let node = try await scene.world.reopened()
        try await node.store.refreshKeys()
        let name = try Scene.id("https://new.example/")
        let clients = [scene.orders.id, scene.mail.id]
        let outcomes = try await atOnce(2) { number in
            let party = RelyingParty(
                client: clients[number], profile: .web, redirectURIs: [],
                resource: ProtectedResource(identifier: name, scopes: ["read"]))
            return try await SetRelyingParty.set(
                party, by: .system, ports: number == 0 ? scene.world.ports : node.ports)
        }
        let loser = try #require(outcomes.firstIndex(of: .resourceTaken))
        #expect(outcomes.count { $0 == .resourceTaken } == 1, "\(outcomes)")
        let owner = try await scene.world.store.read { try $0.relyingParties.owner(of: name) }
        #expect(owner == clients[1 - loser])
    }

    @Test("A right to an API that ends as a code is redeemed leaves no good token for it; the code stays for later")
    func allowanceAtOnce() async throws {
        for _ in 0..<3 {
            let scene = try await Scene(.chosen)
            let node = try await scene.world.reopened()
            try await node.store.refreshKeys()
            let code = try await scene.code(["offline_access", "read"], at: [Self.orders])
            let request = RedeemCode.Request(
                code: code, redirectURI: SignInScene.redirectURI, verifier: Secret(SignInScene.verifier),
                resources: [Self.orders])
            async let redeemed = RedeemCode.redeem(request, by: scene.shop.shop.id, ports: node.ports)
            async let allowed: Void = scene.allow([Self.mail])
            let (outcome, _) = try await (redeemed, allowed)
            switch outcome {
            case .redeemed(let given):
                let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
                #expect(try await scene.scopes(of: tokens.access, by: scene.orders) == nil)
                #expect(try await scene.refreshed(tokens.refresh, for: [Self.orders]) == nil)
            default:
                #expect(outcome == .unknownResource)
                try await scene.allow([Self.orders])
                _ = try await scene.tokens(code, for: [Self.orders])
            }
        }
    }

    @Test("A third party's user is asked about each API's scopes, and allows `read` at one alone")
    func consent() async throws {
        let scene = try await Scene(isThirdParty: true)
        func ask(_ resource: String, answer: ConsentAnswer = .none) async throws -> FinishSignIn.Outcome {
            try await scene.signIn(["openid", "read"], at: [resource], answer: answer)
        }
        guard case .asks(let question) = try await ask(Self.orders) else { throw World.Broken("question") }
        #expect(question.apis == [.init(name: "Orders", scopes: ["read"])])
        scene.world.time.advance(seconds: 3600)
        guard case .finished = try await ask(Self.orders, answer: .allows(scene.shop.user)) else {
            throw World.Broken("allowed")
        }
        scene.world.time.advance(seconds: 3600)
        guard case .finished = try await ask(Self.orders) else { throw World.Broken("asked again") }
        scene.world.time.advance(seconds: 3600)
        guard case .asks(let other) = try await ask(Self.mail) else { throw World.Broken("other") }
        #expect(other.apis == [.init(name: "Letters", scopes: ["read"])])
        let grants = try await scene.world.store.read { try $0.grants.grants(of: scene.shop.user) }
        #expect(grants.map(\.scopes) == [["openid", "\(scene.orders.id)#read"]])
    }

    @Test("A client's token for itself is for us or for an API, and a scope named as a right of ours is none")
    func client() async throws {
        let scene = try await Scene()
        func give(_ scopes: [String]?, for resources: [String]) async throws -> SignedTokens? {
            let outcome = try await GiveClientToken.give(
                scopes: scopes, for: resources, to: scene.shop.shop.id, ports: scene.world.ports)
            switch outcome {
            case .given(let tokens): return tokens
            case .unknownResource: return nil
            case .scopeExceeded, .thirdParty, .unproved, .clientGone: throw World.Broken("give")
            }
        }
        let token = try #require(try await give(nil, for: [Self.mail]))
        let claims = try Self.claims(token.access)
        #expect(claims["aud"] == .string(Self.mail) && claims["scope"] == "read challenges")
        #expect(
            try await AuthenticateClient.authenticate(accessToken: token.access, ports: scene.world.ports) == .refused)
        #expect(try await scene.scopes(of: token.access, by: scene.mail) == ["read", "challenges"])
        #expect(try await scene.scopes(of: token.access, by: scene.orders) == nil)
        #expect(try await give(["read"], for: [Self.mail])?.scopes == ["read"])
        await #expect(throws: World.Broken.self) { try await give(["users"], for: [Self.mail]) }
        #expect(try await give(nil, for: [Self.mail, Self.orders]) == nil)
        #expect(try await give(nil, for: ["urn:example:other"]) == nil)
        #expect(try await give(["challenges"], for: ["\(scene.world.ports.issuer)"])?.scopes == ["challenges"])
        try await scene.allow([Self.orders])
        #expect(try await scene.scopes(of: token.access, by: scene.mail) == nil)
        let last = try #require(try await give(["read"], for: [Self.orders]))
        #expect(try await scene.scopes(of: last.access, by: scene.orders) == ["read"])
        _ = try await DisableClient.disable(scene.shop.shop.id, by: .system, ports: scene.world.ports)
        #expect(try await scene.scopes(of: last.access, by: scene.orders) == nil)
    }

    @Test("Whoever takes the name of an API that is gone takes over neither tokens nor what people allowed")
    func nameTaken() async throws {
        let scene = try await Scene(isThirdParty: true)
        let code = try await scene.code(
            ["offline_access", "read"], at: [Self.orders], answer: .allows(scene.shop.user))
        let tokens = try await scene.tokens(code, for: [])
        #expect(try await scene.scopes(of: tokens.access, by: scene.orders) == ["read"])
        _ = try await DeleteClient.delete(scene.orders.id, by: .system, ports: scene.world.ports)
        #expect(try await scene.setAPI(scene.mail, Self.orders, ["read"]) == nil)
        #expect(try await scene.scopes(of: tokens.access, by: scene.mail) == nil)
        #expect(try await scene.refreshed(tokens.refresh, for: [Self.orders]) == nil)
        scene.world.time.advance(seconds: 3600)
        guard case .asks(let question) = try await scene.signIn(["read"], at: [Self.orders]) else {
            throw World.Broken("not asked again")
        }
        #expect(question.apis == [.init(name: "Letters", scopes: ["read"])])
    }

    @Test("A third party gets no token for an API by itself: its users are asked")
    func thirdParty() async throws {
        let scene = try await Scene(isThirdParty: true)
        // Nor does it learn whether there is the API.
        for resource in [Self.orders, "urn:example:other"] {
            let outcome = try await GiveClientToken.give(
                scopes: ["read"], for: [resource], to: scene.shop.shop.id, ports: scene.world.ports)
            guard case .thirdParty = outcome else { throw World.Broken("\(outcome)") }
        }
    }

    @Test("A device's own sign-in gets a token for the API that the request names, as far as the person allowed it")
    func device() async throws {
        for isThirdParty in [false, true] {
            let scene = try await Scene(isThirdParty: isThirdParty)
            func signIn(_ scopes: [String], for resources: [String]) async throws -> SignInDevice.Outcome {
                let device = scene.shop.device
                let assertion = DeviceAssertion(
                    enrollment: device.enrollment, user: device.invitation.user, issuer: scene.world.ports.issuer,
                    client: "\(scene.shop.shop.id)", named: Hex.encode(scene.world.random.bytes(16)),
                    at: scene.world.time.now)
                return try await SignInDevice.signIn(
                    by: Secret(try await assertion.signed(by: device.authentication)), scopes: scopes, for: resources,
                    at: scene.shop.shop.id, ports: scene.world.ports)
            }
            let outcome = try await signIn(["read"], for: [Self.orders])
            if isThirdParty {
                #expect(outcome == .notAllowed)
                continue
            }
            guard case .signedIn(let given) = outcome else { throw World.Broken("\(outcome)") }
            #expect(given.target.resource == (try Scene.id(Self.orders)) && given.target.scopes == ["read"])
            #expect(!given.isIdentified && given.family.scopes.isEmpty)
            #expect(try await signIn(["openid"], for: [Self.orders]) == .scopeMissing)
            #expect(try await signIn(["orders.write"], for: []) == .scopeOfAnother("orders.write"))
            #expect(try await signIn(["read"], for: ["urn:example:other"]) == .unknownResource)
            #expect(try await signIn(["read"], for: [Self.orders, Self.mail]) == .unknownResource)
        }
    }

    @Test("In a session, too, a third party's user is asked about an API")
    func session() async throws {
        let scene = try await Scene(isThirdParty: true)
        let asked = try await scene.shop.asked()
        try await scene.shop.approve(asked)
        guard case .finished(let finished) = try await scene.shop.finish(asked, answer: .allows(scene.shop.user)) else {
            throw World.Broken("finish")
        }
        let outcome = try await FinishSignIn.goOn(
            try await scene.wish(["openid", "read"], at: [Self.orders]),
            in: try #require(finished.session).secret, browser: scene.shop.browser, ports: scene.world.ports)
        guard case .asks(let question) = outcome else { throw World.Broken("\(outcome)") }
        #expect(question.apis == [.init(name: "Orders", scopes: ["read"])])
    }
}
