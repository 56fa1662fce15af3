package import CountersignCore
package import CountersignWire

/// Fixtures for many tests: clients, users, devices and challenges, created by the server's own operations.
extension World {
    /// The URL for callbacks that ``makeClient(_:rights:callbacks:waives:)`` registers.
    package static let callback = "https://shop.example.com/countersign"

    /// Creates a relying party.
    package func makeClient(
        _ name: String = "ACME Shop", rights: Set<Right> = Set(Right.allCases), callbacks: [String] = [callback],
        waives: Bool = false, pinPolicy: PINPolicy = .standard, authenticators: [CustomAuthenticator] = [],
        returns: [String] = [], coolingOff: Seconds = Client.standardCoolingOff, isThirdParty: Bool = false
    ) async throws -> CreateClient.Created {
        let request = CreateClient.Request(
            name: try ClientName(name), rights: rights, callbackURIs: callbacks.map(CallbackURI.init(stored:)),
            returnURIs: returns.map(ReturnURI.init(stored:)),
            waivesEnrollmentApproval: waives, coolingOff: coolingOff, pinPolicy: pinPolicy,
            authenticators: authenticators, isThirdParty: isThirdParty)
        let result = try await CreateClient.create(request, by: .system, idempotency: nil, ports: ports)
        guard case .done(.created(let created)) = result else { throw Broken("client") }
        return created
    }

    /// Renews the secret for callbacks to a client.
    package func renewCallbackSecret(
        of client: Client, overlap: Seconds = RenewClientSecret.overlap
    ) async throws -> RenewCallbackSecret.Renewed {
        let result = try await RenewCallbackSecret.renew(
            of: client.id, overlap: overlap, by: client.actor, ports: ports
        )
        guard case .done(.renewed(let renewed)) = result else { throw Broken("callback secret") }
        return renewed
    }

    /// Creates a user who is linked to a client.
    package func makeUser(_ externalID: String? = nil, of client: Client) async throws -> UserID {
        let result = try await CreateUser.create(
            externalID: try externalID.map { try ExternalID($0) }, by: client.caller, idempotency: nil, ports: ports
        )
        guard case .done(.created(let user)) = result else { throw Broken("user") }
        return user.id
    }

    /// Creates a ticket for a user.
    package func makeTicket(for user: UserID, by client: Client) async throws -> EnrollmentInvitation {
        let result = try await CreateTicket.create(for: .id(user), by: client.caller, idempotency: nil, ports: ports)
        guard case .done(.created(let created)) = result else { throw Broken("ticket") }
        return created.invitation
    }

    /// Creates and enrolls a device of a user.
    package func makeDevice(of user: UserID, by client: Client) async throws -> TestDevice {
        let device = try await TestDevice(try await makeTicket(for: user, by: client), in: self)
        guard case .enrolled = try await device.enroll() else { throw Broken("device") }
        return device
    }

    /// Creates a type with these settings.
    @discardableResult
    package func makeType(
        _ name: String = "payment", lifetime: Seconds = 120, numberEntry: Bool = true, maximumPending: Int = 1000,
        maximumAsks: Int = 1000, maximumResends: Int = 3, methods: [AnswerMethod] = [.confirm],
        channel: ChannelKind = .devices
    ) async throws -> ChallengeType {
        guard let name = TypeName(name) else { throw Broken("type name") }
        let type = ChallengeType(
            name: name, methods: methods, channel: channel, lifetime: lifetime, numberEntry: numberEntry,
            signingData: true, assurance: .receipt, maximumPending: maximumPending, maximumAsks: maximumAsks,
            denialPause: 0, maximumResends: maximumResends)
        try await ports.store.commit { try $0.types.put(type) }
        return type
    }

    /// A request with the type that ``makeType(_:lifetime:numberEntry:maximumPending:maximumAsks:maximumResends:)``
    /// creates.
    package func request(for user: UserID?, type: String = "payment") throws -> AskChallenge.Request {
        guard let type = TypeName(type) else { throw Broken("type name") }
        return AskChallenge.Request(
            user: user.map { .id($0) }, type: type, message: try DisplayMessage("Pay EUR 1,250.00 to ACME GmbH?"))
    }

    /// Asks a user, and throws if that is refused.
    package func ask(_ request: AskChallenge.Request, by client: Client) async throws -> AskedChallenge {
        let result = try await AskChallenge.ask(request, by: client.credential, idempotency: nil, ports: ports)
        guard case .done(.asked(let asked)) = result else { throw Broken("challenge: \(result)") }
        return asked
    }

    /// The current state of a challenge.
    package func challenge(_ asked: AskedChallenge) async throws -> Challenge {
        guard let challenge = try await ports.store.read({ try $0.challenges.find(asked.challenge.id) }) else {
            throw Broken("challenge")
        }
        return challenge
    }

    /// Enqueues three callbacks of a client, which are due now; the body of each is its id.
    package func enqueueCallbacks(of client: ClientID) async throws -> [EventID] {
        let now = time.now
        let ids: [EventID] = [newID(), newID(), newID()]
        try await ports.store.commit { writer in
            for id in ids {
                let content = OutboxMessage.Content.callback(
                    CallbackURI(stored: Self.callback), client: client, body: Array("\(id)".utf8))
                try writer.outbox.enqueue(
                    OutboxMessage(id: id, content: content, dueAt: now, expiresAt: now.adding(seconds: 60)))
            }
        }
        return ids
    }

    /// The whole audit, oldest event first.
    package func audit() async throws -> [AuditEvent] {
        try await ports.store.read { try $0.audit.list(after: 0, limit: 10_000).map(\.event) }
    }
}
