import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A shop whose server brings codes of its customers, and a customer at their account page.
struct UserCodeScene: Sendable {
    static let code = "Blue-4711 kite"
    static let name = "customer-1@example.com"

    let account: AccountScene

    var world: World { account.world }
    var user: UserID { account.user }
    var shop: Client { account.shop.shop }

    init(_ engine: Engine = .sqlite) async throws {
        try await self.init(in: try await AccountScene(engine))
    }

    init(in account: AccountScene) async throws {
        self.account = account
        try await register(account.shop.shop)
    }

    /// Registers the server of a client.
    func register(_ client: Client, bringsUserCode: Bool = true) async throws {
        let party = RelyingParty(
            client: client.id, profile: .web, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
            askedBrowsers: .all, ways: [.passkey, .device, .qr, .email], registration: .open,
            backchannel: RelyingParty.Backchannel(delivery: .poll, bringsUserCode: bringsUserCode))
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
    }

    /// Another client, whose server brings no codes.
    func plainClient() async throws -> Client {
        let client = try await world.makeClient("Plain").client
        try await register(client, bringsUserCode: false)
        return client
    }

    func code(_ text: String) throws -> BackchannelUserCode { try #require(BackchannelUserCode(text)) }

    private func request(
        _ text: String?, by client: Client?, for name: String
    ) throws -> BeginBackchannel.Request {
        var request = BeginBackchannel.Request(by: (client ?? shop).id, for: .name(name))
        request.scopes = ["openid"]
        if let text { request.userCode = try code(text) }
        return request
    }

    func outcome(
        _ text: String?, by client: Client? = nil, for name: String = UserCodeScene.name
    ) async throws -> BeginBackchannel.Outcome {
        try await BeginBackchannel.begin(try request(text, by: client, for: name), ports: world.ports)
    }

    func begin(
        _ text: String?, by client: Client? = nil, for name: String = UserCodeScene.name
    ) async throws -> (begun: BeginBackchannel.Begun, asked: Authorization) {
        let begun = try await account.shop.begin(try request(text, by: client, for: name))
        return (begun, try await account.shop.signIn(begun))
    }

    /// Whether the customer's phone is asked, once the outbox has looked for them; the question is then taken back.
    func isAsked(
        _ text: String?, by client: Client? = nil, for name: String = UserCodeScene.name
    ) async throws -> Bool {
        let (begun, asked) = try await begin(text, by: client, for: name)
        try await account.shop.put(asked)
        let isPut = try await account.shop.isPut(asked)
        let cancelled = try await CancelDeviceGrant.cancel(
            begun.authRequestID, by: (client ?? shop).id, ports: world.ports)
        #expect(cancelled == .cancelled)
        return isPut
    }

    /// Sets a code on the account page, or removes it.
    func set(_ text: String?, by secret: Secret<String>?) async throws -> ChangeOwnUserCode.Outcome {
        var code: BackchannelUserCode?
        if let text { code = try self.code(text) }
        return try await ChangeOwnUserCode.set(
            code, by: secret, shownTo: user, from: ContextLine(address: "192.0.2.7", userAgent: nil), in: .english,
            ports: world.ports)
    }

    /// What is kept of the customer's code.
    func kept() async throws -> KeyedHash? {
        let user = user
        return try await world.store.read { try $0.users.userCode(of: user) }
    }

    /// How many attempts of a kind are counted.
    func counted(_ limit: AttemptLimit) async throws -> Int {
        let now = world.time.now
        return try await world.ports.commit(at: now, as: .system) { try $0.counted(limit).number }
    }
}
