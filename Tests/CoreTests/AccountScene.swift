import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A shop with a customer, a third party that takes anybody, and an account page.
struct AccountScene: Sendable {
    let shop: SignInScene
    let third: Client
    let account: Client

    var world: World { shop.world }
    var user: UserID { shop.user }
    var phone: EnrollmentID { shop.device.enrollment }

    init(_ engine: Engine = .sqlite) async throws {
        try await self.init(in: try await World(engine))
    }

    init(in world: World) async throws {
        shop = try await SignInScene(in: world)
        let ways: Set<SignInWay> = [.passkey, .device, .qr, .email]
        try await shop.set(ways: ways, registration: .open)
        third = try await world.makeClient("Third", waives: true, isThirdParty: true).client
        account = try await world.makeClient("Acme account").client
        try await Self.set(third, at: SignInScene.redirectURI, .open, in: world)
        try await Self.set(account, at: world.ports.issuer.accountPage, .known, in: world)
    }

    static func set(
        _ client: Client, at uri: String, _ registration: RelyingParty.Registration, in world: World
    ) async throws {
        let party = RelyingParty(
            client: client.id, profile: .native, redirectURIs: [try #require(RedirectURI(uri))],
            askedBrowsers: .all, ways: [.passkey, .device, .qr, .email], registration: registration)
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
    }

    /// The cookie of a browser that is signed in by a code to the customer's address.
    func byMail() async throws -> Secret<String> {
        let signedIn = try await shop.signedInByMail("customer-1", at: shop.shop)
        #expect(signedIn.user == user)
        return try #require(signedIn.finished.session).secret
    }

    /// The cookie of a browser that is signed in by a tap on a device.
    func byTap(_ device: TestDevice? = nil) async throws -> Secret<String> {
        try #require(
            try await shop.signedIn(with: device ?? shop.device, as: "customer-1", at: shop.shop).session
        ).secret
    }

    func act(
        _ act: ActOnOwnDevice.Act, on device: EnrollmentID, by secret: Secret<String>?, shownTo user: UserID? = nil
    ) async throws -> ActOnOwnDevice.Outcome {
        try await ActOnOwnDevice.act(
            act, on: device, by: secret, shownTo: user ?? self.user,
            from: ContextLine(address: "192.0.2.7", userAgent: nil), in: .english, ports: world.ports)
    }

    func end(_ extent: EndOwnAccess.Extent, by secret: Secret<String>?) async throws -> EndOwnAccess.Outcome {
        try await EndOwnAccess.end(extent, by: secret, shownTo: user, ports: world.ports)
    }

    func show(_ secret: Secret<String>?) async throws -> Account? {
        switch try await ShowAccount.show(secret, ports: world.ports) {
        case .shown(let account): return account
        case .signIn(let client):
            #expect(client.id == account.id)
            return nil
        case .off: throw World.Broken("off")
        }
    }

    func enrollment(_ id: EnrollmentID) async throws -> Enrollment {
        try #require(try await world.store.read { try $0.enrollments.find(id) })
    }

    func confirm(_ id: EnrollmentID) async throws {
        #expect(try await ConfirmEnrollment.confirm(id, by: .system, ports: world.ports) == .done)
    }

    /// A sign-in to the account page itself, by a code to an address.
    func askedForAccount(_ name: String) async throws -> Authorization {
        world.time.advance(seconds: 60)
        var wanted = try shop.wanted(name, at: account)
        wanted.redirectURI = world.ports.issuer.accountPage
        guard case .asked(let asked) = try await shop.ask(wanted, by: .email) else { throw World.Broken("asked") }
        return asked
    }

    /// What was sent to the customer's address from the account page.
    func told() async throws -> [PersonalMessage] {
        let now = world.time.now
        return try await world.store.lease(.mail, limit: 100, now: now, until: now).compactMap { leased in
            guard case .personal(let message, let address, account.id) = leased.message.content else { return nil }
            #expect("\(address)" == "customer-1@example.com")
            return message
        }
    }
}
