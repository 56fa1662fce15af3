import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

extension AccountScene {
    /// The ceremony of a page that nobody has seen before.
    func ceremony() throws -> PasskeyCeremony {
        let page = Base64URL.encode(world.ports.random.bytes(16))
        return try #require(PasskeyCeremony(of: page, ports: world.ports))
    }

    /// Registers a passkey in a session.
    func register(
        _ passkey: inout SoftPasskey, by secret: Secret<String>?, in ceremony: PasskeyCeremony? = nil,
        shownTo user: UserID? = nil
    ) async throws -> RegisterPasskey.Outcome {
        let user = user ?? self.user
        let ceremony = try ceremony ?? self.ceremony()
        let known = try await world.store.read { try $0.passkeys.passkeys(of: user) }.filter(\.isPresent)
        let response = passkey.register(ceremony.creationOptions(for: user, named: "customer-1", excluding: known))
        return try await RegisterPasskey.register(
            response, in: ceremony, named: try DisplayLine("Firefox on Windows"), by: secret, shownTo: user,
            from: ContextLine(address: "192.0.2.7", userAgent: nil), in: .english, ports: world.ports)
    }

    /// A passkey that is registered in a session.
    func passkey(
        by secret: Secret<String>, _ seed: String = "one"
    ) async throws -> (soft: SoftPasskey, row: RegisteredPasskey) {
        var soft = SoftPasskey(at: World.issuer, seed)
        guard case .done(let row) = try await register(&soft, by: secret) else { throw World.Broken("passkey") }
        return (soft, row)
    }

    /// Signs in by a passkey, and finishes.
    func enter(
        _ passkey: SoftPasskey, at client: Client? = nil, in ceremony: PasskeyCeremony? = nil,
        again: AuthorizationID? = nil
    ) async throws -> EnterPasskey.Outcome {
        let ceremony = try ceremony ?? self.ceremony()
        var wanted = try shop.wanted("customer-1", at: client ?? shop.shop)
        wanted.identifier = nil
        return try await EnterPasskey.enter(
            .init(
                try passkey.signIn(ceremony.requestOptions), in: ceremony,
                CarriedSignIn(wanted: wanted, signIn: again), browser: shop.browser,
                place: ContextLine(address: "192.0.2.7", userAgent: nil), network: nil), ports: world.ports)
    }

    /// The session of a sign-in by a passkey.
    func byPasskey(_ passkey: SoftPasskey, at client: Client? = nil) async throws -> FinishSignIn.Finished {
        guard case .authenticated(let id) = try await enter(passkey, at: client),
            case .finished(let finished) = try await FinishSignIn.finish(
                id, in: shop.browser, former: nil, ports: world.ports)
        else { throw World.Broken("finished") }
        return finished
    }

    /// The cookie of a browser that is signed in by a device and its PIN.
    func byPIN(_ device: EnrollmentID? = nil) async throws -> Secret<String> {
        let now = world.time.now
        let random = world.ports.random
        let secret = Secret(Base64URL.encode(random.bytes(32)))
        let authentication = Authentication(
            user: user, at: now, methods: ["swk", "user", "mca", "pin", "mfa"], strength: .twoFactors,
            evidence: .approval(random.id(at: now), device ?? phone))
        let session = Session(id: random.id(at: now), secret: secret, authentication, from: nil, at: now)
        try await world.store.commit { try $0.sessions.insert(session) }
        return secret
    }

    func row(_ id: PasskeyID) async throws -> RegisteredPasskey? {
        try await world.store.read { try $0.passkeys.find(id) }
    }

    func confirmPhone() async throws {
        _ = try await byMail()
        try await confirm(phone)
    }

    func act(
        _ act: ActOnOwnPasskey.Act, on passkey: PasskeyID, by secret: Secret<String>?, shownTo user: UserID? = nil
    ) async throws -> ActOnOwnPasskey.Outcome {
        try await ActOnOwnPasskey.act(
            act, on: passkey, by: secret, shownTo: user ?? self.user, from: nil, in: .english, ports: world.ports)
    }
}
