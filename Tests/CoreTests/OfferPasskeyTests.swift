import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/decisions/0078-passkeys-on-pages.md.
@Suite("The offer of a passkey after a sign-in")
struct OfferPasskeyTests {
    /// A sign-in by a code to the customer's address, in a browser that keeps passkeys, and its session.
    private func signedIn(
        _ scene: AccountScene, at client: Client? = nil, _ change: (inout Wanted) -> Void = { _ in }
    ) async throws -> (id: AuthorizationID, session: Secret<String>) {
        scene.world.time.advance(seconds: 60)
        var wanted = try scene.shop.wanted("customer-1", at: client ?? scene.shop.shop)
        wanted.keepsPasskeys = true
        change(&wanted)
        guard case .asked(let asked) = try await scene.shop.ask(wanted, by: .email) else { throw World.Broken("ask") }
        let code = try #require(try await scene.shop.sent(for: asked))
        #expect(try await scene.shop.enter(code, for: asked) == .authenticated)
        guard case .finished(let finished) = try await scene.shop.finishAllowing(asked) else {
            throw World.Broken("finish")
        }
        let session = try #require(finished.session)
        #expect(!session.wasOpen)
        return (asked.id, session.secret)
    }

    private func offer(
        _ scene: AccountScene, _ signIn: (id: AuthorizationID, session: Secret<String>), in browser: BrowserID? = nil
    ) async throws -> OfferPasskey.Offer? {
        try await OfferPasskey.offer(
            after: signIn.id, in: signIn.session, browser: browser ?? scene.shop.browser, ports: scene.world.ports)
    }

    /// Somebody else, with a session that brings passkeys in.
    private func somebody(_ scene: AccountScene) async throws -> (user: UserID, session: Secret<String>) {
        let world = scene.world
        let user = try await world.makeUser("customer-2", of: scene.shop.shop)
        let device = try await world.makeDevice(of: user, by: scene.shop.shop).enrollment
        let now = world.time.now
        let random = world.ports.random
        let secret = Secret(Base64URL.encode(random.bytes(32)))
        let authentication = Authentication(
            user: user, at: now, methods: ["swk", "user", "mca", "pin", "mfa"], strength: .twoFactors,
            evidence: .approval(random.id(at: now), device))
        let session = Session(id: random.id(at: now), secret: secret, authentication, from: nil, at: now)
        try await world.store.commit { try $0.sessions.insert(session) }
        return (user, secret)
    }

    @Test("It names what would come of it, and the account page decides the same", arguments: Engine.allCases)
    func offered(_ engine: Engine) async throws {
        let scene = try await AccountScene(engine)
        let signIn = try await signedIn(scene)
        let found = try #require(try await offer(scene, signIn))
        #expect(found.user == scene.user && found.signIn.id == signIn.id && found.passkeys.isEmpty)
        #expect(found.addresses.map(\.description) == ["customer-1@example.com"])
        let account = try #require(try await scene.show(signIn.session))
        #expect(account.passkeyOffer == .open(found.binding))
        let (_, row) = try await scene.passkey(by: signIn.session)
        #expect(row.countsFrom == found.binding.countsFrom && row.isConfirmed == found.binding.isConfirmed)
        let made = try await OfferPasskey.made(
            row.id, after: signIn.id, in: signIn.session, browser: scene.shop.browser, ports: scene.world.ports)
        #expect(made?.passkey.id == row.id && made?.signIn.id == signIn.id)
        #expect(try await offer(scene, signIn)?.passkeys.map(\.id) == [row.id])
    }

    @Test("A browser that has not said that it keeps passkeys is offered none")
    func browser() async throws {
        let scene = try await AccountScene()
        let signIn = try await signedIn(scene) { $0.keepsPasskeys = false }
        #expect(try await offer(scene, signIn) == nil)
    }

    @Test("The account page offers passkeys by itself")
    func own() async throws {
        let scene = try await AccountScene()
        let page = scene.world.ports.issuer.accountPage
        _ = try await scene.byMail()
        let signIn = try await signedIn(scene, at: scene.account) { $0.redirectURI = page }
        #expect(try await offer(scene, signIn) == nil)
    }

    @Test("Where the authentication must be young, nobody is kept from the client")
    func age() async throws {
        for (age, isOffered) in [(Seconds(600), false), (Seconds.minutes(30), true)] {
            let scene = try await AccountScene()
            let signIn = try await signedIn(scene) { $0.maximumAge = age }
            #expect(try await (offer(scene, signIn) != nil) == isOffered, "\(age)")
        }
    }

    @Test("Whoever has authorized something in detail goes to the client at once")
    func details() async throws {
        let scene = try await AccountScene()
        let type = AuthorizationDetailType(
            name: "payment", heading: try Detail(label: "Order", value: "Payment"),
            fields: [.init(path: ["amount"], label: try DisplayLine("Amount"))])
        let details = try AuthorizationDetails(#"[{"type":"payment","amount":"EUR 5.00"}]"#, of: [type])
        for wantedDetails in [nil, details] {
            scene.world.time.advance(seconds: 60)
            var wanted = try scene.shop.wanted()
            wanted.keepsPasskeys = true
            wanted.details = wantedDetails
            guard case .asked(let asked) = try await scene.shop.ask(wanted, by: .device) else {
                throw World.Broken("ask")
            }
            try await scene.shop.approve(asked)
            guard case .finished(let finished) = try await scene.shop.finish(asked) else {
                throw World.Broken("finish")
            }
            let session = try #require(finished.session).secret
            #expect(try await (offer(scene, (asked.id, session)) != nil) == (wantedDetails == nil))
        }
    }

    @Test("After five minutes there is none any more, as on the account page")
    func fresh() async throws {
        let scene = try await AccountScene()
        let signIn = try await signedIn(scene)
        scene.world.time.advance(seconds: AccountVisit.freshness.value - 1)
        #expect(try await offer(scene, signIn) != nil)
        scene.world.time.advance(seconds: 1)
        #expect(try await offer(scene, signIn) == nil)
    }

    @Test("Neither another browser nor the session of somebody else is offered one, or sees what was created")
    func others() async throws {
        let scene = try await AccountScene()
        let signIn = try await signedIn(scene)
        #expect(try await offer(scene, signIn, in: try SignInScene.browser("two")) == nil)
        let other = try await somebody(scene)
        #expect(try await offer(scene, (signIn.id, other.session)) == nil)
        var soft = SoftPasskey(at: World.issuer)
        guard case .done(let row) = try await scene.register(&soft, by: other.session, shownTo: other.user) else {
            throw World.Broken("passkey")
        }
        let made = try await OfferPasskey.made(
            row.id, after: signIn.id, in: other.session, browser: scene.shop.browser, ports: scene.world.ports)
        #expect(made == nil)
        let none = try await OfferPasskey.offer(
            after: signIn.id, in: nil, browser: scene.shop.browser, ports: scene.world.ports)
        #expect(none == nil)
    }

    @Test("At a third party there is none that the third party would not believe")
    func thirdParty() async throws {
        let scene = try await AccountScene()
        _ = try await scene.byMail()
        try await scene.confirm(scene.phone)
        let signIn = try await signedIn(scene, at: scene.third)
        #expect(try await offer(scene, signIn) == nil)
        // What a confirmed device and its PIN bring in is for all clients.
        let found = try await offer(scene, (signIn.id, try await scene.byPIN()))
        #expect(found?.binding.isConfirmed == true)
    }

    @Test("Where the client takes no passkeys, or the way of signing in brings none in, there is none")
    func off() async throws {
        let scene = try await AccountScene()
        let signIn = try await signedIn(scene)
        try await scene.shop.set(ways: [.device, .qr, .email], registration: .open)
        #expect(try await offer(scene, signIn) == nil)
        try await scene.shop.set(ways: [.passkey, .device, .qr, .email], registration: .open)
        #expect(try await offer(scene, signIn) != nil)
        // A tap brings none in where a device has a PIN.
        _ = try await scene.shop.device.setPIN()
        #expect(try await offer(scene, (signIn.id, try await scene.byTap())) == nil)
        // Nobody is at the account page where there is none.
        _ = try await RemoveRelyingParty.remove(scene.account.id, by: .system, ports: scene.world.ports)
        #expect(try await offer(scene, signIn) == nil)
    }
}
