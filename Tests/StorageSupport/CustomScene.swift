package import CountersignCore
package import CountersignWire
import CountersignStorage
import Crypto
package import Encodings
package import OpenPGP

/// A user with a device, for tests of custom authenticators: the type `payment` asks for the authenticator `phrase` or
/// for the PIN.
package struct CustomScene: Sendable {
    package let world: World
    package let shop: Client
    package let user: UserID
    package let device: TestDevice
    package let name: AuthenticatorName

    package init(
        engine: Engine = .sqlite, in given: World? = nil, attempts: Int64 = 3, fallsBack: Bool = true
    ) async throws {
        guard let name = AuthenticatorName("phrase") else { throw World.Broken("name") }
        self.name = name
        world = if let given { given } else { try await World(engine) }
        let methods: [AnswerMethod] = [.custom(name)]
        try await world.makeType(numberEntry: false, methods: fallsBack ? methods + [.pin] : methods)
        try await world.makeType("confirm-first", numberEntry: false, methods: [.confirm, .custom(name)])
        try await world.makeType("with-number", methods: methods)
        let phrase = CustomAuthenticator(
            name: name, hook: CallbackURI(stored: "https://shop.example.com/phrase"), attempts: Int(attempts))
        shop = try await world.makeClient(waives: true, authenticators: [phrase]).client
        user = try await world.makeUser("customer 1", of: shop)
        device = try await world.makeDevice(of: user, by: shop)
    }

    /// A request that registers the authenticator, with the mistakes that a test makes.
    package func registration(
        _ data: String? = "correct horse", text: (String) -> String = { $0 }, authorizer: SigningKeyPair? = nil,
        sealed: [UInt8]? = nil, nonce: Nonce? = nil, ticket: Secret<String>? = nil
    ) async throws -> MethodChangeRequest {
        var customData: [UInt8]?
        if let data { customData = try await device.sealed(data) }
        var nonce = nonce
        if nonce == nil { nonce = try await device.methods().nonce }
        guard let nonce else { throw World.Broken("nonce") }
        let change = AuthenticatorChange(
            ChangeHeader(
                issuer: world.ports.issuer, enrollment: device.enrollment, nonce: nonce),
            name: name, customDataHash: customData.map { Array(SHA256.hash(data: $0)) })
        let signed = text(change.text)
        var authorization: [UInt8]?
        if let authorizer { authorization = try await device.seal(signed, signedBy: authorizer) }
        return MethodChangeRequest(
            message: try await device.seal(signed), authorization: authorization, customData: sealed ?? customData,
            ticket: ticket)
    }

    /// Registers the authenticator, and throws if that is refused.
    package func register() async throws {
        world.hooks.say(HookVerdict(.ok))
        guard case .changed = try await device.send(try await registration()) else { throw World.Broken("phrase") }
    }

    /// Asks the user and opens the challenge.
    package func ask(_ type: String = "payment") async throws -> AskedChallenge {
        let asked = try await world.ask(try world.request(for: user, type: type), by: shop)
        try await device.open(asked.challenge.id)
        return asked
    }

    /// An approval of a challenge.
    ///
    /// - Parameters:
    ///   - asked: the challenge.
    ///   - data: the data that the hook judges.
    ///   - number: the entered number; the right one by default.
    ///   - signer: the signing key; the primary key by default.
    ///   - sealed: the sealed message, if it does not contain the data.
    package func approval(
        of asked: AskedChallenge, _ data: String = "correct horse", number: EntryNumber? = nil,
        signedBy signer: SigningKeyPair? = nil, sealed: [UInt8]? = nil
    ) async throws -> AnswerRequest {
        let right = try await device.sealed(data)
        let customData = sealed ?? right
        let receipt = Receipt(
            of: try await world.challenge(asked).question, user: user, device: device.certificate.fingerprint,
            decision: .approved(.custom(name), number: number ?? asked.number),
            customDataHash: Array(SHA256.hash(data: customData)), answeredAt: world.time.now)
        return AnswerRequest(
            message: try await device.seal(receipt.text, signedBy: signer), customData: customData)
    }

    /// Sends an answer.
    package func send(
        _ request: AnswerRequest, to asked: AskedChallenge
    ) async throws -> AnswerChallenge.Outcome {
        try await device.answer(asked.challenge.id, with: request)
    }

    /// The registered authenticators, with the number of failed attempts.
    package func customs() async throws -> [AuthenticatorName: Int] {
        let id = device.enrollment
        return try await world.store.read { try $0.enrollments.find(id)?.customs.mapValues(\.tried) ?? [:] }
    }

    /// How many messages tell hooks that the device no longer uses the authenticator.
    package func deregistrations() async throws -> Int64 {
        try await world.count("outbox")
    }
}

extension TestDevice {
    /// Seals data for a custom authenticator.
    package func sealed(_ data: String) async throws -> [UInt8] {
        guard let data = CustomData(data) else { throw World.Broken("data") }
        return try await seal(data.text)
    }
}
