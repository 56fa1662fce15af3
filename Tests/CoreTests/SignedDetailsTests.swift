import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 9396 §7, §9.1.
@Suite("What a person authorizes in detail is what a device has shown and signed")
struct SignedDetailsTests {
    private static func details() throws -> AuthorizationDetails {
        let type = AuthorizationDetailType(
            name: "payment", heading: try Detail(label: "Order", value: "Payment"),
            fields: [.init(path: ["amount"], label: try DisplayLine("Amount"))])
        return try AuthorizationDetails(#"[{"type":"payment","amount":"EUR 5.00"}]"#, of: [type])
    }

    private static func wanted(in scene: SignInScene) throws -> Wanted {
        var wanted = try scene.wanted()
        wanted.details = try details()
        wanted.scopes.append(TokenFamily.offlineAccess)
        return wanted
    }

    private static func asked(
        _ wanted: Wanted, by way: SignInWay, in scene: SignInScene
    ) async throws -> Authorization {
        guard case .asked(let asked) = try await scene.ask(wanted, by: way) else { throw World.Broken("ask") }
        return asked
    }

    @Test("It travels and is kept with its lines")
    func kept() async throws {
        let scene = try await SignInScene()
        let wanted = try Self.wanted(in: scene)
        #expect(Wanted(wanted.json) == wanted)
        var damaged = try #require(wanted.json.object)
        damaged["details"] = "x"
        #expect(Wanted(.object(damaged)) == nil)
    }

    @Test("Devices are asked with its lines, by the number and by the code")
    func lines() async throws {
        let scene = try await SignInScene()
        let wanted = try Self.wanted(in: scene)
        for way in [SignInWay.device, .qr] {
            let id = try #require(try await Self.asked(wanted, by: way, in: scene).ask?.challenge)
            let challenge = try #require(try await scene.world.store.read { try $0.challenges.find(id) })
            #expect(challenge.question.details.map(\.value.text) == ["Payment", "EUR 5.00"], "\(way)")
        }
    }

    @Test("By no other way a person is asked, nor offered one")
    func otherWays() async throws {
        let scene = try await SignInScene()
        try await scene.set(ways: [.device, .qr, .email])
        let wanted = try Self.wanted(in: scene)
        #expect(try await scene.ask(wanted, by: .email) == .clientGone)
        let ports = scene.world.ports
        #expect(try await OfferWays.ways(for: wanted, in: scene.browser, ports: ports) == .ways([.device, .qr]))
        for (ways, isReached) in [([.qr], true), ([.email], false)] as [(Set<SignInWay>, Bool)] {
            let party = RelyingParty(client: scene.shop.id, profile: .native, redirectURIs: [], ways: ways)
            #expect(try await OfferWays.canReach(wanted, at: party, ports: ports) == isReached)
        }
    }

    @Test("Whoever was authenticated by anything but a device's yes to it gives the client nothing")
    func evidence() async throws {
        let scene = try await SignInScene()
        let (now, ports) = (scene.world.time.now, scene.world.ports)
        let identifier: IdentifierID = scene.world.newID()
        for evidence in [Authentication.Evidence.code(identifier, .email), .approval(nil, scene.device.enrollment)] {
            let authentication = Authentication(
                user: scene.user, at: now, methods: [], strength: .device, evidence: evidence)
            let wanted = try Self.wanted(in: scene)
            let authorization = Authorization(
                id: scene.world.newID(), wanted: wanted,
                browser: ports.hasher.hash(of: scene.browser, client: scene.shop.id), user: scene.user, ask: nil,
                state: .authenticated(authentication), expiresAt: now.adding(Authorization.lifetime))
            try await scene.world.store.commit { try $0.authorizations.insert(authorization) }
            #expect(try await scene.finish(authorization) == .tooWeak(wanted))
        }
    }

    @Test("The tokens have it, through refreshes, and no row tells it; the session gives it no second time")
    func tokens() async throws {
        let scene = try await SignInScene()
        let wanted = try Self.wanted(in: scene)
        let asked = try await Self.asked(wanted, by: .device, in: scene)
        try await scene.approve(asked)
        guard case .finished(let finished) = try await scene.finish(asked),
            case .redeemed(let given) = try await scene.redeem(finished.code)
        else { throw World.Broken("finish") }
        let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
        #expect(tokens.details == wanted.details?.json)
        let payload = try #require(Base64URL.decode(tokens.access.reveal().split(separator: ".")[1]))
        #expect(try JSONValue(parsing: payload)["authorization_details"] == wanted.details?.json)
        let kept = try #require(
            try await scene.world.store.read { try $0.families.find(given.family.id) }?.sealedDetails)
        #expect(!kept.contains("EUR") && kept == given.family.sealedDetails)
        #expect(try await scene.refreshed(tokens.refresh).details == wanted.details?.json)
        let session = try #require(finished.session).secret
        let again = try await FinishSignIn.goOn(
            wanted, in: session, browser: scene.browser, ports: scene.world.ports)
        #expect(again == .notReady)
        // What is not asked for is not in the tokens.
        let plain = try await scene.tokens().tokens
        #expect(plain.details == nil)
    }

    @Test("A third party's page asks each time, whatever was allowed before")
    func thirdParty() async throws {
        let scene = try await SignInScene(isThirdParty: true)
        let wanted = try Self.wanted(in: scene)
        for _ in 0..<2 {
            let asked = try await Self.asked(wanted, by: .device, in: scene)
            try await scene.approve(asked)
            guard case .asks(let question) = try await scene.finish(asked) else { throw World.Broken("question") }
            #expect(question.wanted.details == wanted.details && !question.isGiven)
            guard case .finished = try await scene.finish(asked, answer: .allows(scene.user)) else {
                throw World.Broken("finish")
            }
        }
    }
}
