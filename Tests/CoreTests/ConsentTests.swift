import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A third party gets what its user has allowed it")
struct ConsentTests {
    /// A shop that is a third party, its customer, and the session in their browser.
    private struct Scene: Sendable {
        let shop: SignInScene
        let session: Secret<String>

        var world: World { shop.world }

        init(_ engine: Engine = .sqlite) async throws {
            shop = try await SignInScene(engine, isThirdParty: true)
            let asked = try await shop.asked()
            try await shop.approve(asked)
            guard case .asks(let question) = try await shop.finish(asked) else { throw World.Broken("no question") }
            #expect(question.user == shop.user && !question.isGiven && question.wanted.scopes == ["openid"])
            #expect(try await shop.finish(asked, answer: .goesOn(shop.user)) == .asks(question))
            #expect(try await shop.finish(asked, answer: .allows(shop.world.newID())) == .asks(question))
            guard case .finished(let finished) = try await shop.finish(asked, answer: .allows(shop.user)) else {
                throw World.Broken("finish")
            }
            session = try #require(finished.session).secret
        }

        func wanted(_ scopes: [String]) throws -> Wanted {
            var wanted = try shop.wanted()
            wanted.scopes = scopes
            return wanted
        }

        func goOn(
            _ wanted: Wanted, asksAlways: Bool = false, _ answer: ConsentAnswer = .none
        ) async throws -> FinishSignIn.Outcome {
            try await FinishSignIn.goOn(
                wanted, in: session, browser: shop.browser, asksAlways: asksAlways, answer: answer, ports: world.ports)
        }

        func grants() async throws -> [Set<String>] {
            try await world.store.read { try $0.grants.grants(of: shop.user) }.map(\.scopes)
        }
    }

    @Test("Each scope once, by the person whom the page has shown it to", arguments: Engine.allCases)
    func scopes(_ engine: Engine) async throws {
        let scene = try await Scene(engine)
        let user = scene.shop.user
        #expect(try await scene.grants() == [["openid"]])
        guard case .finished = try await scene.goOn(try scene.wanted(["openid"])) else { throw World.Broken("asked") }
        let more = try scene.wanted(["openid", "email"])
        guard case .asks(let question) = try await scene.goOn(more) else { throw World.Broken("more") }
        #expect(question.addresses[.email]?.address == .email(try SignInScene.email("customer-1")))
        #expect(try await scene.goOn(more, .goesOn(user)) == .asks(question))
        #expect(try await scene.goOn(more, .allows(scene.world.newID())) == .asks(question))
        #expect(try await scene.grants() == [["openid"]])
        guard case .finished = try await scene.goOn(more, .allows(user)) else { throw World.Broken("allowed") }
        #expect(try await scene.grants() == [["openid", "email"]])
        // Who is to be asked in any case has allowed it before, and only goes on.
        guard case .asks(let again) = try await scene.goOn(more, asksAlways: true) else { throw World.Broken("app") }
        #expect(again.isGiven)
        guard case .finished = try await scene.goOn(more, asksAlways: true, .goesOn(user)) else {
            throw World.Broken("goes on")
        }
        var fresh = try scene.wanted(["openid"])
        fresh.asksConsent = true
        guard case .asks(let anew) = try await scene.goOn(fresh, .goesOn(user)) else { throw World.Broken("anew") }
        #expect(!anew.isGiven)
        let given = try await scene.world.audit().filter { $0.kind == .consentGiven }
        #expect(given.map { $0.detail["scope"] } == ["openid", "email openid"])
    }

    @Test("A grant ends with the link to the client, and with the user")
    func ends() async throws {
        for isDeleted in [false, true] {
            let scene = try await Scene()
            let world = scene.world
            if isDeleted {
                _ = try await DeleteUser.delete(.id(scene.shop.user), by: scene.shop.shop.caller, ports: world.ports)
            } else {
                _ = try await UnlinkUser.unlink(.id(scene.shop.user), from: scene.shop.shop.caller, ports: world.ports)
            }
            #expect(try await scene.grants().isEmpty)
        }
    }

    @Test("A closed client does not ask whom it will not take, and gets no code for them")
    func closed() async throws {
        let shop = try await SignInScene()
        let asked = try await shop.asked()
        try await shop.approve(asked)
        guard case .finished(let finished) = try await shop.finish(asked) else { throw World.Broken("finish") }
        let session = try #require(finished.session).secret
        let other = try await shop.world.makeClient("Closed").client
        let party = RelyingParty(
            client: other.id, profile: .native, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))])
        _ = try await SetRelyingParty.set(party, by: .system, ports: shop.world.ports)
        var wanted = Wanted(client: other.id, redirectURI: SignInScene.redirectURI, scopes: ["openid"])
        wanted.codeChallenge = try shop.wanted().codeChallenge
        for asksAlways in [true, false] {
            let outcome = try await FinishSignIn.goOn(
                wanted, in: session, browser: shop.browser, asksAlways: asksAlways, ports: shop.world.ports)
            #expect(outcome == .notReady, "\(asksAlways)")
        }
    }
}
