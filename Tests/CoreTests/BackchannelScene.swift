import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// A shop whose server has its customers' phones asked, and a customer with a phone.
struct BackchannelScene: Sendable {
    static let name = "customer-1@example.com"
    static let uri = "https://shop.example.com/ciba"
    static let token = "8d67dc78-7faa-4d41-aabd-67707b374255"

    let shop: SignInScene

    var world: World { shop.world }
    var user: UserID { shop.user }
    var client: ClientID { shop.shop.id }

    init(
        _ engine: Engine = .sqlite, _ delivery: RelyingParty.Backchannel.Delivery = .poll, isThirdParty: Bool = false
    ) async throws {
        shop = try await SignInScene(engine, profile: .web, isThirdParty: isThirdParty)
        try await set(delivery)
    }

    static var ping: RelyingParty.Backchannel.Delivery { .ping(CallbackURI(stored: uri)) }
    static var push: RelyingParty.Backchannel.Delivery { .push(CallbackURI(stored: uri)) }

    /// Registers the shop; without a mode, its server asks nobody.
    func set(
        _ delivery: RelyingParty.Backchannel.Delivery?, type: TypeName? = nil, for client: Client? = nil,
        bindsTokens: Bool = false, resources: [ResourceIdentifier] = []
    ) async throws {
        let party = RelyingParty(
            client: (client ?? shop.shop).id, profile: .web,
            redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))], stepUpTypes: [.pin],
            askedBrowsers: .all, resources: resources, bindsTokens: bindsTokens,
            backchannel: delivery.map { RelyingParty.Backchannel(delivery: $0, type: type) })
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
    }

    /// A type without a number.
    func tap() async throws -> TypeName {
        let name = try #require(TypeName("tap"))
        try await world.store.commit { try $0.types.put(ChallengeType(name: name, numberEntry: false)) }
        return name
    }

    func request(
        for hint: BeginBackchannel.Hint = .name(name), _ change: (inout BeginBackchannel.Request) -> Void = { _ in }
    ) -> BeginBackchannel.Request {
        var request = BeginBackchannel.Request(by: client, for: hint)
        request.scopes = ["openid"]
        request.notificationToken = NotificationToken(Self.token)
        change(&request)
        return request
    }

    func outcome(_ request: BeginBackchannel.Request) async throws -> BeginBackchannel.Outcome {
        try await BeginBackchannel.begin(request, ports: world.ports)
    }

    /// What the shop's server gets, once the outbox has looked for the person.
    func begin(_ request: BeginBackchannel.Request? = nil) async throws -> BeginBackchannel.Begun {
        let begun = try await shop.begin(request ?? self.request())
        try await shop.put(try await signIn(begun))
        return begun
    }

    func id(_ begun: BeginBackchannel.Begun) throws -> AuthorizationID {
        try #require(world.ports.hasher.signIn(ofAuthRequest: begun.authRequestID))
    }

    /// The sign-in as it is now.
    func signIn(_ begun: BeginBackchannel.Begun) async throws -> Authorization { try await shop.signIn(begun) }

    /// Whether the phone is asked, or was.
    func isPut(_ begun: BeginBackchannel.Begun) async throws -> Bool {
        try await shop.isPut(try await signIn(begun))
    }

    func approve(_ begun: BeginBackchannel.Begun) async throws { try await shop.approve(try await signIn(begun)) }

    /// The shop's server polls, after a pause.
    func poll(
        _ begun: BeginBackchannel.Begun, after seconds: Int64 = 5, by client: ClientID? = nil,
        with key: ProvedKey? = nil
    ) async throws -> RedeemDecision.Outcome {
        try await shop.poll(.authRequest(begun.authRequestID), after: seconds, by: client, with: key)
    }

    /// The tokens that the shop's server gets at its next poll.
    func tokens(_ begun: BeginBackchannel.Begun) async throws -> UnsignedTokens {
        try await shop.tokens(.authRequest(begun.authRequestID))
    }

    /// What is to be told now.
    func told() async throws -> [BackchannelEvent] {
        let now = world.time.now
        return try await world.store.lease(.backchannel, limit: 100, now: now, until: now).compactMap { leased in
            guard case .backchannel(let uri, client, _, let event) = leased.message.content else { return nil }
            #expect("\(uri)" == Self.uri && leased.message.lane.host == "shop.example.com:443")
            return event
        }
    }

    /// The message that is to be sent now about a request.
    func message(_ begun: BeginBackchannel.Begun, _ event: BackchannelEvent = .decided) async throws -> OutboxMessage {
        let (id, now) = (try self.id(begun), world.time.now)
        let leased = try await world.store.lease(.backchannel, limit: 100, now: now, until: now)
        let message = leased.map(\.message).first { message in
            if case .backchannel(_, _, id, event) = message.content { true } else { false }
        }
        return try #require(message)
    }

    /// When the tokens of a request were ended; nil if they were not.
    func endedTokens(_ begun: BeginBackchannel.Begun) async throws -> Timestamp? {
        guard case .redeemed(_, let family) = try await signIn(begun).state else { throw World.Broken("no tokens") }
        return try await world.store.read { try $0.families.find(family)?.endedAt }
    }

    /// What is posted for a message.
    func posted(_ begun: BeginBackchannel.Begun, _ event: BackchannelEvent = .decided) async throws -> JSONValue? {
        let outcome = try await TellBackchannel.notification(
            of: try id(begun), event, to: client, ports: world.ports)
        guard case .posted(let notification) = outcome else { return nil }
        #expect("\(notification.uri)" == Self.uri && notification.token.text.reveal() == Self.token)
        let body = try JSONValue(parsing: notification.body.reveal())
        #expect(body["auth_req_id"] == .string(begun.authRequestID.reveal()))
        return body
    }
}
