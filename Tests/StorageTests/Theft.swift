import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import RelyingPartyAPI
import StorageTestSupport
import TestSupport

@testable import CountersignCore

/// A deployment with one of everything that a thief could be after, and a copy of its database.
struct Theft: Sendable {
    static let password = "marker: the callbacks' password"
    static let phone = "+15551234567"
    static let address = "person@mail.example.com"
    static let pushToken = "marker:the-push-token-of-a-device"
    static let browser = "marker-3f1c9a04-7c55"
    static let providerToken = "marker: what a push service knows us by"
    static let callback = "https://shop.example.com/ended"
    static let notice = "https://shop.example.com/notices"
    static let returnURI = "https://shop.example.com/back"
    static let message = "Pay EUR 1,250.00 to ACME GmbH?"
    /// A client's own name for a user who was deleted.
    static let formerName = "former-customer-0815"
    /// The body of the request that made the client.
    static let clientRequest = Array("{\"name\":\"ACME Shop\",\"callback_password\":\"\(password)\"}".utf8)
    /// The body of the request that had a code sent.
    static let textRequest = Array("{\"type\":\"text\",\"phone\":\"\(phone)\"}".utf8)

    let world: World
    let copy: StolenCopy
    /// The bootstrap token.
    let token: Secret<String>
    let shop: CreateClient.Created
    let user: UserID
    let device: TestDevice
    /// The key of the device's PIN.
    let pin: SigningKeyPair
    /// A ticket that is not spent.
    let ticket: EnrollmentInvitation
    /// A question that is open, with a number.
    let asked: AskedChallenge
    /// A question that is open, with a code that was sent as a text message.
    let texted: AskedChallenge
    /// The code that was sent.
    let textCode: EntryNumber
    /// A question that waits for whoever scans its code.
    let shown: AskedChallenge
    /// A question that was approved by a link, and waits for its code to come back.
    let held: AskedChallenge
    /// A question that was approved.
    let approved: AskedChallenge
    /// The answer to it, as it went over the network.
    let answer: [UInt8]
    /// The question whether one more device may be added, and the number that this device shows.
    let addition: (challenge: ChallengeID, number: EntryNumber)

    /// Plays everything, and takes the copy.
    init(by way: StolenCopy.Way) async throws {
        world = try await World()
        let token = try await FirstStart.prepare(store: world.store, time: world.time, random: world.random).token
        guard let token else { throw World.Broken("token") }
        self.token = token
        shop = try await Self.makeShop(in: world)
        try await Self.makeTypes(of: shop.client, in: world)
        user = try await world.makeUser("customer-1", of: shop.client)
        device = try await world.makeDevice(of: user, by: shop.client)
        try await device.register(.fcm, token: Self.pushToken)
        pin = try await device.setPIN()
        let former = try await world.makeUser(Self.formerName, of: shop.client)
        _ = try await world.makeDevice(of: former, by: shop.client)
        _ = try await DeleteUser.delete(.id(former), by: shop.client.caller, ports: world.ports)
        (approved, answer) = try await Self.approve(on: device, of: shop.client, in: world)
        asked = try await Self.ask(
            try world.request(for: user), named: "number", body: Array("{\"type\":\"payment\"}".utf8), by: shop.client,
            in: world)
        try await device.open(asked.challenge.id)
        var text = try world.request(for: user, type: "text")
        text.phone = PhoneNumber(Self.phone)
        texted = try await Self.ask(text, named: "text", body: Self.textRequest, by: shop.client, in: world)
        textCode = try await Self.sentCode(in: world)
        shown = try await world.ask(try world.request(for: nil, type: "scan"), by: shop.client)
        held = try await Self.hold(on: device, of: shop.client, in: world)
        addition = try await Self.add(to: user, of: shop.client, in: world)
        ticket = try await Self.makeTicket(for: user, by: shop.client, in: world)
        try await Self.mail(by: shop.client, in: world)
        _ = try await world.store.replace(
            "apns", issuedAt: nil, by: ProviderToken(text: Secret(Self.providerToken), issuedAt: world.time.now))
        copy = try await StolenCopy(of: world, by: way)
    }

    private static func sentCode(in world: World) async throws -> EntryNumber {
        let now = world.time.now
        let leased = try await world.store.lease(.text, limit: 1, now: now, until: now)
        guard case .personal(let message, _, _)? = leased.first?.message.content,
            let code = message.values["code"].flatMap({ EntryNumber($0.reveal()) })
        else { throw World.Broken("text message") }
        return code
    }

    /// What the thief has who has the master key as well.
    func opened() async throws -> StolenCopy.Opened {
        try await copy.opened(by: try World.masterKey(), like: world)
    }

    /// The code that the device brings back of the question that was approved by a link.
    var returnCode: Secret<String> { world.ports.hasher.returnCode(of: held.challenge.id) }

    /// Names a request as the server does.
    static func key(_ name: String, body: [UInt8], in world: World) throws -> IdempotencyKey {
        guard let key = IdempotencyKey(scope: "POST", key: name, body: body, world.ports.hasher) else {
            throw World.Broken("key")
        }
        return key
    }

    private static func makeShop(in world: World) async throws -> CreateClient.Created {
        let request = CreateClient.Request(
            name: try ClientName("ACME Shop"), rights: Set(Right.allCases),
            callbackURIs: [CallbackURI(stored: callback)], returnURIs: [ReturnURI(stored: returnURI)],
            noticeURI: CallbackURI(stored: notice),
            basic: BasicCredentials(username: "acme", password: Secret(password)), waivesEnrollmentApproval: false)
        let key = try key("client", body: clientRequest, in: world)
        let made = try await CreateClient.create(request, by: .system, idempotency: key, ports: world.ports)
        guard case .done(.created(let shop)) = made else { throw World.Broken("client") }
        return shop
    }

    private static func makeTypes(of client: Client, in world: World) async throws {
        try await world.makeType()
        try await world.makeType("sign-in", numberEntry: false)
        try await world.makeType("scan", numberEntry: false, channel: .code)
        guard let name = TypeName("text") else { throw World.Broken("type") }
        let type = try ChallengeType(["text_code": true, "clients": [.string("\(client.id)")]], name: name)
        try await world.store.commit { try $0.types.put(type) }
    }

    private static func ask(
        _ request: AskChallenge.Request, named name: String, body: [UInt8], by client: Client, in world: World
    ) async throws -> AskedChallenge {
        let key = try key(name, body: body, in: world)
        let result = try await AskChallenge.ask(request, by: client.credential, idempotency: key, ports: world.ports)
        guard case .done(.asked(let asked)) = result else { throw World.Broken("challenge: \(result)") }
        return asked
    }

    private static func approve(
        on device: TestDevice, of client: Client, in world: World
    ) async throws -> (AskedChallenge, [UInt8]) {
        var request = try world.request(for: device.invitation.user, type: "sign-in")
        request.callbackURI = CallbackURI(stored: callback)
        request.clientState = "order 4711"
        request.context = ContextLine(address: "203.0.113.7", userAgent: nil)
        request.browser = BrowserID(browser)
        let asked = try await world.ask(request, by: client)
        try await device.open(asked.challenge.id)
        let answer = try await device.receipt(of: asked, .approved(.confirm, number: nil))
        guard case .decided = try await device.answer(asked.challenge.id, with: answer) else {
            throw World.Broken("approval")
        }
        return (asked, answer)
    }

    private static func hold(
        on device: TestDevice, of client: Client, in world: World
    ) async throws -> AskedChallenge {
        var request = try world.request(for: nil, type: "scan")
        request.returnURI = ReturnURI(stored: returnURI)
        let asked = try await world.ask(request, by: client)
        guard let code = asked.code?.code,
            case .claimed = try await ClaimChallenge.claim(code, by: try await device.call(), ports: world.ports),
            let claimed = try await world.store.read({ try $0.challenges.find(asked.challenge.id) })
        else { throw World.Broken("claim") }
        try await device.open(asked.challenge.id)
        let answer = try await device.receipt(of: claimed, .approved(.confirm, number: nil))
        guard case .decided = try await device.answer(asked.challenge.id, with: answer) else {
            throw World.Broken("approval by a link")
        }
        return asked
    }

    private static func add(
        to user: UserID, of client: Client, in world: World
    ) async throws -> (challenge: ChallengeID, number: EntryNumber) {
        let device = try await TestDevice(try await world.makeTicket(for: user, by: client), in: world)
        guard case .enrolled(let enrollment, let awaited?) = try await device.enroll(), let id = enrollment.approval,
            let number = awaited.number
        else { throw World.Broken("one more device") }
        return (id, number)
    }

    private static func makeTicket(
        for user: UserID, by client: Client, in world: World
    ) async throws -> EnrollmentInvitation {
        let key = try key("ticket", body: [], in: world)
        let result = try await CreateTicket.create(
            for: .id(user), by: client.caller, idempotency: key, ports: world.ports)
        guard case .done(.created(let created)) = result else { throw World.Broken("ticket") }
        return created.invitation
    }

    private static func mail(by client: Client, in world: World) async throws {
        guard let address = EmailAddress(address),
            case .done(.queued) = try await SendTestMessage.send(
                .test, to: .email(address), in: nil, by: client.caller, idempotency: nil, ports: world.ports)
        else { throw World.Broken("mail") }
    }
}
