import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A shop whose customers sign in on devices without a browser, a customer with a phone, and their signed-in browser.
struct DeviceGrantScene: Sendable {
    static let name = "customer-1@example.com"

    let shop: SignInScene
    /// The session of the customer's browser.
    let session: Secret<String>

    var world: World { shop.world }
    var user: UserID { shop.user }

    init(
        _ engine: Engine = .sqlite, _ grant: RelyingParty.DeviceGrant = .byHint, isThirdParty: Bool = false
    ) async throws {
        shop = try await SignInScene(engine, isThirdParty: isThirdParty)
        let asked = try await shop.asked()
        try await shop.approve(asked)
        guard case .finished(let finished) = try await shop.finishAllowing(asked) else { throw World.Broken("finish") }
        session = try #require(finished.session).secret
        try await set(grant)
    }

    func set(
        _ grant: RelyingParty.DeviceGrant, for client: Client? = nil, ways: Set<SignInWay> = SignInWay.usual,
        _ registration: RelyingParty.Registration = .closed, bindsTokens: Bool = false, maximumAge: Seconds? = nil,
        stepUpTypes: [TypeName] = []
    ) async throws {
        let party = RelyingParty(
            client: (client ?? shop.shop).id, profile: .native,
            redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], stepUpTypes: stepUpTypes, ways: ways,
            registration: registration, defaultMaximumAge: maximumAge, bindsTokens: bindsTokens, deviceGrant: grant)
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
    }

    /// What a device gets that asks.
    func begin(
        hint: String? = nil, scopes: [String] = ["openid"], lifetime: Seconds? = nil,
        strength: Authentication.Strength? = nil, in language: LanguageTag? = nil
    ) async throws -> BeginDeviceGrant.Begun {
        let outcome = try await begun(
            hint: hint, scopes: scopes, lifetime: lifetime, strength: strength, in: language)
        guard case .begun(let begun) = outcome else { throw World.Broken("\(outcome)") }
        guard hint != nil else { return begun }
        try await shop.put(try await signIn(begun))
        return begun
    }

    func begun(
        hint: String? = nil, scopes: [String] = ["openid"], lifetime: Seconds? = nil, isAuthenticated: Bool = false,
        strength: Authentication.Strength? = nil, in language: LanguageTag? = nil
    ) async throws -> BeginDeviceGrant.Outcome {
        var request = BeginDeviceGrant.Request(by: shop.shop.id, isAuthenticated: isAuthenticated)
        request.hint = hint
        request.scopes = scopes
        request.lifetime = lifetime
        request.strength = strength
        request.language = language
        request.place = ContextLine(address: "192.0.2.9", userAgent: nil)
        request.network = [192, 0, 2, 9]
        return try await BeginDeviceGrant.begin(request, ports: world.ports)
    }

    /// The sign-in that a device has asked for, as it is now.
    func signIn(_ begun: BeginDeviceGrant.Begun) async throws -> Authorization { try await shop.signIn(begun) }

    /// The device polls, after a pause.
    func poll(
        _ begun: BeginDeviceGrant.Begun, after seconds: Int64 = 5, by client: ClientID? = nil,
        with key: ProvedKey? = nil
    ) async throws -> RedeemDecision.Outcome {
        try await shop.poll(.deviceCode(begun.deviceCode), after: seconds, by: client, with: key)
    }

    /// The tokens that the device gets at its next poll.
    func tokens(_ begun: BeginDeviceGrant.Begun) async throws -> UnsignedTokens {
        try await shop.tokens(.deviceCode(begun.deviceCode))
    }

    /// Somebody types a code.
    func find(
        _ typed: String, in browser: BrowserID? = nil, session: Secret<String>? = nil, network: [UInt8]? = nil
    ) async throws -> FindDeviceGrant.Outcome {
        try await FindDeviceGrant.find(
            FindDeviceGrant.Request(
                typed: typed, browser: browser ?? shop.browser, session: session ?? self.session, network: network),
            ports: world.ports)
    }

    func answer(
        _ begun: BeginDeviceGrant.Begun, in browser: BrowserID? = nil, by user: UserID? = nil,
        session: Secret<String>? = nil
    ) throws -> ConfirmDeviceGrant.Request {
        ConfirmDeviceGrant.Request(
            try #require(world.ports.hasher.signIn(ofDeviceCode: begun.deviceCode)), by: user ?? self.user,
            browser: browser ?? shop.browser, session: session ?? self.session)
    }

    /// Somebody who signs in by a code from a mail, and their session.
    func signedInByMail(
        _ name: String, _ registration: RelyingParty.Registration
    ) async throws -> (user: UserID, session: Secret<String>) {
        let ways: Set<SignInWay> = [.device, .qr, .email]
        try await shop.set(ways: ways, registration: registration)
        let signedIn = try await shop.signedInByMail(name, at: shop.shop)
        try await set(.byCode, ways: ways, registration)
        return (signedIn.user, try #require(signedIn.finished.session).secret)
    }

    func confirm(_ request: ConfirmDeviceGrant.Request) async throws -> ConfirmDeviceGrant.Outcome {
        try await ConfirmDeviceGrant.confirm(request, ports: world.ports)
    }
}
