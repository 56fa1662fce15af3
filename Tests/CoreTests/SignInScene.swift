import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A shop that signs people in, a customer with a phone, and a browser.
struct SignInScene: Sendable {
    static let redirectURI = "https://shop.example.com/callback"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    let world: World
    let shop: Client
    let user: UserID
    let device: TestDevice
    let browser: BrowserID

    init(
        _ engine: Engine = .sqlite, asking browsers: RelyingParty.AskedBrowsers = .all,
        profile: RelyingParty.Profile = .native, isThirdParty: Bool = false
    ) async throws {
        try await self.init(
            in: try await World(engine), asking: browsers, profile: profile, isThirdParty: isThirdParty)
    }

    init(
        in world: World, asking browsers: RelyingParty.AskedBrowsers = .all,
        profile: RelyingParty.Profile = .native, isThirdParty: Bool = false
    ) async throws {
        self.world = world
        try await world.store.commit { store in for type in ChallengeType.builtIn { try store.types.put(type) } }
        shop = try await world.makeClient(waives: true, isThirdParty: isThirdParty).client
        user = try await world.makeUser("customer-1", of: shop)
        _ = try await UpdateUser.update(
            .id(user), .init(addresses: ClaimedAddresses(email: try Self.email("customer-1"))), by: shop.caller,
            ports: world.ports)
        device = try await world.makeDevice(of: user, by: shop)
        browser = try Self.browser("one")
        try await set(profile, asking: browsers)
    }

    static func browser(_ name: String) throws -> BrowserID {
        try #require(BrowserID("browser-\(name)-0123456789"))
    }

    static func email(_ name: String) throws -> EmailAddress { try #require(EmailAddress("\(name)@example.com")) }

    func set(
        _ profile: RelyingParty.Profile = .native, asking browsers: RelyingParty.AskedBrowsers = .all,
        ways: Set<SignInWay> = SignInWay.usual, registration: RelyingParty.Registration = .closed,
        callingCodes: [CallingCode] = [], stepUpTypes: [TypeName] = [], grace: Seconds = RelyingParty.usualGrace,
        rotatesAlways: Bool = false
    ) async throws {
        let party = RelyingParty(
            client: shop.id, profile: profile, redirectURIs: [try #require(RedirectURI(Self.redirectURI))],
            stepUpTypes: stepUpTypes, askedBrowsers: browsers, ways: ways, registration: registration,
            callingCodes: callingCodes,
            refreshGrace: grace, rotatesAlways: rotatesAlways)
        let outcome = try await SetRelyingParty.set(party, by: shop.actor, ports: world.ports)
        #expect(outcome == .set(party))
        try await world.store.refreshKeys()
    }

    /// Another client that signs people in, with the same redirect URI.
    func otherClient() async throws -> ClientID {
        let other = try await world.makeClient("Other").client.id
        let party = RelyingParty(
            client: other, profile: .native, redirectURIs: [try #require(RedirectURI(Self.redirectURI))])
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        return other
    }

    /// What the shop wants, for a person of this name.
    func wanted(_ name: String = "customer-1") throws -> Wanted {
        var wanted = Wanted(client: shop.id, redirectURI: Self.redirectURI, scopes: ["openid"])
        wanted.identifier = .address(.email(try Self.email(name)))
        wanted.codeChallenge = Base64URL.encode(Array(SHA256.hash(data: Array(Self.verifier.utf8))))
        return wanted
    }

    /// Asks, and lets the outbox put the sign-in to devices.
    func ask(
        _ name: String = "customer-1", again signIn: AuthorizationID? = nil, in browser: BrowserID? = nil,
        network: [UInt8]? = nil
    ) async throws -> AskSignIn.Outcome {
        try await ask(try wanted(name), by: .device, again: signIn, in: browser, network: network)
    }

    func ask(
        _ wanted: Wanted, by way: SignInWay, again signIn: AuthorizationID? = nil, in browser: BrowserID? = nil,
        network: [UInt8]? = nil
    ) async throws -> AskSignIn.Outcome {
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted, signIn: signIn), by: way, browser: browser ?? self.browser,
            place: ContextLine(address: "192.0.2.1", userAgent: nil), network: network)
        let outcome = try await AskSignIn.ask(request, ports: world.ports)
        guard case .asked(let asked) = outcome, way == .device, let challenge = asked.ask?.challenge else {
            return outcome
        }
        try await PutSignIn.put(asked.id, by: challenge, ports: world.ports)
        return .asked(try #require(try await world.store.read { try $0.authorizations.find(asked.id) }))
    }

    /// Whether somebody's devices are asked, or were, by the latest ask of a sign-in.
    func isPut(_ asked: Authorization) async throws -> Bool {
        guard let id = asked.ask?.challenge else { return false }
        return try await world.store.read { try $0.challenges.find(id) } != nil
    }

    /// Whether a person's devices are asked anew.
    func isAsked(
        _ name: String = "customer-1", again signIn: AuthorizationID? = nil, in browser: BrowserID? = nil
    ) async throws -> Bool {
        try await isPut(try await asked(name, again: signIn, in: browser))
    }

    /// The sign-in of an ask that was not refused.
    func asked(
        _ name: String = "customer-1", again signIn: AuthorizationID? = nil, in browser: BrowserID? = nil
    ) async throws -> Authorization {
        guard case .asked(let asked) = try await ask(name, again: signIn, in: browser) else {
            throw World.Broken("sign-in")
        }
        return asked
    }

    /// The code that is sent to an address; nil if none is.
    func sent(for asked: Authorization) async throws -> EntryNumber? {
        let id = try #require(asked.ask?.verification?.id)
        return try await SignInCode.message(of: asked.id, id, ports: world.ports)
            .flatMap { $0.message.values["code"]?.reveal() }.flatMap { EntryNumber($0) }
    }

    func enter(
        _ code: EntryNumber, for asked: Authorization, in browser: BrowserID? = nil
    ) async throws -> EnterSignInCode.Outcome {
        try await EnterSignInCode.enter(.code(code), for: asked.id, in: browser ?? self.browser, ports: world.ports)
    }

    /// The phone answers what it is asked.
    @discardableResult
    func answer(
        _ asked: Authorization, by key: SigningKeyPair? = nil, _ decision: (EntryNumber) -> Decision
    ) async throws -> AnswerChallenge.Outcome {
        let ask = try #require(asked.ask)
        let id = try #require(ask.challenge)
        try await device.open(id)
        let challenge = try #require(try await world.store.read { try $0.challenges.find(id) })
        return try await device.answer(
            id, with: try await device.receipt(of: challenge, decision(try #require(ask.number)), signedBy: key))
    }

    /// The sign-in by a code that the page shows.
    func askedByCode(again signIn: AuthorizationID? = nil) async throws -> Authorization {
        var wanted = try wanted()
        wanted.identifier = nil
        let request = AskSignIn.Request(
            CarriedSignIn(wanted: wanted, signIn: signIn), by: .qr, browser: browser, place: nil, network: nil)
        guard case .asked(let asked) = try await AskSignIn.ask(request, ports: world.ports) else {
            throw World.Broken("sign-in")
        }
        return asked
    }

    /// The phone scans the code of a sign-in.
    func scan(_ asked: Authorization, with other: TestDevice? = nil) async throws -> ClaimChallenge.Outcome {
        let shown = try await ShowSignInCode.code(of: asked.id, in: browser, ports: world.ports)
        let code = try #require(shown).code
        return try await ClaimChallenge.claim(code, by: try await (other ?? device).call(), ports: world.ports)
    }

    /// The phone decides about what it has scanned.
    func decide(_ asked: Authorization, _ decision: Decision) async throws {
        let id = try #require(asked.ask?.challenge)
        try await device.open(id)
        let challenge = try #require(try await world.store.read { try $0.challenges.find(id) })
        _ = try await device.answer(id, with: try await device.receipt(of: challenge, decision))
    }

    func approve(_ asked: Authorization) async throws {
        try await answer(asked) { .approved(.confirm, number: $0) }
    }

    func progress(of asked: Authorization, in browser: BrowserID? = nil) async throws -> WatchAuthorization.Outcome {
        try await WatchAuthorization.show(asked.id, in: browser ?? self.browser, ports: world.ports)
    }

    func finish(
        _ asked: Authorization, in browser: BrowserID? = nil, former: Secret<String>? = nil,
        answer: ConsentAnswer = .none
    ) async throws -> FinishSignIn.Outcome {
        try await FinishSignIn.finish(
            asked.id, in: browser ?? self.browser, former: former, answer: answer, ports: world.ports)
    }

    /// What ends a sign-in, its session and its tokens.
    enum Ending: CaseIterable { case device, link, clientDisabled, settings }

    func end(_ ending: Ending) async throws {
        switch ending {
        case .device:
            _ = try await RemoveEnrollment.remove(
                device.enrollment, of: .id(user), by: shop.caller, ports: world.ports)
        case .link: _ = try await UnlinkUser.unlink(.id(user), from: shop.caller, ports: world.ports)
        case .clientDisabled: _ = try await DisableClient.disable(shop.id, by: .system, ports: world.ports)
        case .settings: _ = try await RemoveRelyingParty.remove(shop.id, by: .system, ports: world.ports)
        }
    }

    /// Suspends the phone, or resumes it.
    func suspend(_ isSuspended: Bool) async throws {
        let outcome = try await SuspendEnrollment.suspend(
            device.enrollment, isSuspended, by: shop.actor, ports: world.ports)
        #expect(outcome == .done)
    }

    /// The tokens of a sign-in with the scope `offline_access`.
    func offline() async throws -> (given: UnsignedTokens, tokens: SignedTokens) {
        let session = try #require(try await signedIn().session).secret
        var wanted = try wanted()
        wanted.scopes.append(TokenFamily.offlineAccess)
        guard
            case .finished(let finished) = try await FinishSignIn.goOn(
                wanted, in: session, browser: browser, ports: world.ports),
            case .redeemed(let given) = try await redeem(finished.code)
        else { throw World.Broken("offline") }
        return (given, try await SignTokens.sign(given, ports: world.ports))
    }

    func refresh(
        _ token: Secret<String>?, scopes: [String]? = nil, by client: ClientID? = nil
    ) async throws -> RefreshTokens.Outcome {
        try await RefreshTokens.refresh(
            try #require(token), scopes: scopes, by: client ?? shop.id, ports: world.ports)
    }

    /// The next tokens.
    func refreshed(_ token: Secret<String>?) async throws -> SignedTokens {
        guard case .refreshed(let given) = try await refresh(token) else { throw World.Broken("refresh") }
        return try await SignTokens.sign(given, ports: world.ports)
    }

    /// The result of a sign-in that the phone approves.
    func signedIn() async throws -> FinishSignIn.Finished {
        let asked = try await asked()
        try await approve(asked)
        guard case .finished(let finished) = try await finish(asked) else { throw World.Broken("finish") }
        return finished
    }

    func redeem(
        _ code: Secret<String>, uri: String? = redirectURI, verifier: String? = verifier, by client: ClientID? = nil
    ) async throws -> RedeemCode.Outcome {
        let request = RedeemCode.Request(code: code, redirectURI: uri, verifier: verifier.map { Secret($0) })
        return try await RedeemCode.redeem(request, by: client ?? shop.id, ports: world.ports)
    }

    /// The tokens of a sign-in.
    func tokens() async throws -> (family: TokenFamily, tokens: SignedTokens) {
        guard case .redeemed(let redeemed) = try await redeem(try await signedIn().code) else {
            throw World.Broken("redeem")
        }
        return (redeemed.family, try await SignTokens.sign(redeemed, ports: world.ports))
    }

    func isGood(_ tokens: SignedTokens) async throws -> Bool {
        switch try await ShowClaims.show(tokens.access, ports: world.ports) {
        case .claims(let user, _, _, let client): user == self.user && client == shop.id
        case .invalidToken, .scopeMissing: false
        }
    }
}
