import CountersignCore
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport

/// A client whose server names people and has their phones asked: it polls for its tokens, is told that it can, or is
/// brought them.
///
/// Spec: docs/decisions/0092-ciba.md.
final class CallCentre: @unchecked Sendable {
    /// How it gets its tokens, each in one way.
    enum Mode: CaseIterable { case poll, ping, push }

    /// What it has asked.
    final class Request: @unchecked Sendable {
        let key: String
        let id: AuthorizationID
        let text: Secret<String>
        /// The key to which its tokens are bound; nil for none.
        let keyPair: P256.Signing.PrivateKey?
        let lifetime: Duration
        /// For how long the client pauses between two polls, in seconds.
        var interval: Int64
        /// Rings when the client is told something.
        let bell = Once<Void>()
        /// How often the client was told something.
        var notices = 0
        /// The tokens that were given for it, whether or not their reply has arrived.
        var family: TokenFamilyID?

        fileprivate init(
            _ key: String, _ id: AuthorizationID, _ begun: BeginBackchannel.Begun, by keyPair: P256.Signing.PrivateKey?
        ) {
            self.key = key
            self.id = id
            text = begun.authRequestID
            self.keyPair = keyPair
            lifetime = .seconds(begun.expiresIn.value)
            interval = begun.interval?.value ?? 5
        }
    }

    let mode: Mode
    let client: Portal
    let receiver: CallbackURI
    unowned let world: SimulatedWorld
    /// Its requests whose replies have arrived.
    private(set) var requests: [AuthorizationID: Request] = [:]
    private var asked = 0
    private var proofs = 0

    /// Opens one for each mode. Only the one that is pinged brings codes, and only the one that is pushed to shows no
    /// number.
    static func openAll(in world: SimulatedWorld, _ services: Node.Services) async throws -> [CallCentre] {
        guard let tap = TypeName("tap") else { throw World.Broken("type") }
        try await services.ports.store.commit { try $0.types.put(ChallengeType(name: tap, numberEntry: false)) }
        var centres: [CallCentre] = []
        for mode in Mode.allCases {
            let number = world.portals.count + 2 + centres.count
            let centre = try await CallCentre(mode, number, in: world, services)
            let delivery: RelyingParty.Backchannel.Delivery =
                switch mode {
                case .poll: .poll
                case .ping: .ping(centre.receiver)
                case .push: .push(centre.receiver)
                }
            let party = RelyingParty(
                client: centre.client.client.id, profile: .web, redirectURIs: [],
                backchannel: RelyingParty.Backchannel(
                    delivery: delivery, type: mode == .push ? tap : nil, bringsUserCode: mode == .ping))
            guard try await SetRelyingParty.set(party, by: .system, ports: services.ports) == .set(party) else {
                throw World.Broken("relying party")
            }
            centres.append(centre)
        }
        return centres
    }

    private init(_ mode: Mode, _ number: Int, in world: SimulatedWorld, _ services: Node.Services) async throws {
        self.mode = mode
        self.world = world
        let client = try await Portal(number, in: world, services, as: .callCentre)
        self.client = client
        receiver = CallbackURI(stored: "\(client.host)/ciba")
    }

    func begin() {
        world.scheduler.start { [self] in
            while !world.isCalm {
                try? await world.pause(.seconds(world.draw(20...200)))
                guard !world.isCalm, let user = world.pick(world.users) else { continue }
                world.scheduler.start { [self] in await ask(for: user) }
            }
        }
    }

    /// Gets to know a user whom a portal has made anew, by the earlier name.
    func meet(_ user: User, as id: UserID) async {
        let (known, name) = (client.client.id, user.externalID)
        _ = await client.call { services, _ in
            try await services.ports.store.commit { stores in
                try stores.users.lock(id)
                guard let found = try stores.users.find(id), found.deletedAt == nil else { return false }
                return try stores.links.put(id, to: known, externalID: name)
            }
        }
    }

    // Asking

    private func ask(for user: User) async {
        asked += 1
        let key = "\(client.number)-\(asked)"
        let isKnown = world.happens(percent: 90)
        let name = isKnown ? UserReference.externalID(user.externalID).text : "nobody@example.com"
        guard let message = try? DisplayMessage("Pay EUR 12.50 to ACME GmbH? (\(key))") else { return }
        var request = BeginBackchannel.Request(by: client.client.id, for: .name(name))
        request.message = message
        request.scopes =
            world.happens(percent: 50) ? [TokenFamily.openID, TokenFamily.offlineAccess] : [TokenFamily.openID]
        request.lifetime = world.happens(percent: 40) ? Seconds(Int64(world.draw(20...60))) : nil
        request.notificationToken = NotificationToken(Self.token(of: key))
        var brought = ServerRequests.Brought.nothing
        if mode == .ping {
            brought = world.happens(percent: 70) ? .rightCode : .wrongCode
            request.userCode = BackchannelUserCode(
                brought == .rightCode ? user.askingCode : user.wrongAskingCode)
        }
        world.ledger.servers.brought[message.text] = brought
        world.ledger.keepSecret(Self.token(of: key))
        let keyPair = world.happens(percent: 50) ? P256.Signing.PrivateKey() : nil
        guard let begun = await begin(request, by: keyPair) else { return }
        guard let id = Self.signIn(of: begun.authRequestID.reveal()) else {
            return world.violate(0, "\(client.name) has got an id of a request that is none")
        }
        let made = Request(key, id, begun, by: keyPair)
        requests[id] = made
        world.trace.note(client.name, "asks \(id) of \(user.number)")
        if let number = begun.number { show(number, of: id, to: user) }
        if world.happens(percent: 12) {
            world.scheduler.start { [self] in
                try? await world.pause(world.milliseconds(10...60_000))
                await takeBack(made)
            }
        }
        // Sometimes the server crashes here and never looks again.
        guard world.happens(percent: 95) else { return }
        switch mode {
        case .poll: await poll(made)
        case .ping: await waitForPing(made)
        // The tokens come by themselves.
        case .push: break
        }
    }

    private func begin(
        _ request: BeginBackchannel.Request, by keyPair: P256.Signing.PrivateKey?
    ) async -> BeginBackchannel.Begun? {
        for _ in 0..<3 where !client.isGone {
            let name = proofName()
            let outcome = await client.call(tries: 1) { [self] services, _ in
                var request = request
                request.key = try await proved(keyPair, for: "/oauth2/bc-authorize", named: name, services.ports)
                return try await BeginBackchannel.begin(request, ports: services.ports)
            }
            switch outcome {
            case .begun(let begun)?: return begun
            case .clientGone?, .tooMany?: return nil
            // The copy of the message that came twice was faster.
            case .unproved(.replayed)?: continue
            case .some(let refusal):
                world.violate(0, "\(client.name) may not ask: \(refusal)")
                return nil
            case nil: continue
            }
        }
        return nil
    }

    /// Shows the user a number, as somebody at a counter does. The person sees which question it belongs to.
    private func show(_ number: EntryNumber, of id: AuthorizationID, to user: User) {
        let asked = SQLStatement("SELECT ask_challenge_id FROM authorizations WHERE id = $1")
        let row = try? world.database.look { try $0.rows(asked, [.text("\(id)")]) }.first
        guard let text = try? row?.text(0), let challenge = ChallengeID(text) else { return }
        user.screen[challenge] = number
        world.ledger.keepSecret(number.digits)
    }

    /// By what the client knows us.
    static func token(of key: String) -> String { "token-\(key)" }

    /// The sign-in that the id of a request begins with.
    static func signIn(of request: String) -> AuthorizationID? {
        AuthorizationID(String(request.prefix { $0 != "." }))
    }

    // Keys

    /// A name for a proof that no other proof has.
    func proofName() -> String {
        proofs += 1
        return "\(client.number)-\(proofs)"
    }

    /// A key as the server has it after a good proof; nil for no key.
    func proved(
        _ key: P256.Signing.PrivateKey?, for path: String, named name: String, _ ports: Ports
    ) async throws -> ProvedKey? {
        guard let key else { return nil }
        let uri = "\(world.issuer)\(path)"
        let proof = try await KeyProof(
            method: "POST", uri: uri, named: name, at: ports.time.now, nonce: ProvedKey.nonce(ports: ports), for: nil
        ).signed(by: key)
        return try ProvedKey.verify(proof, method: "POST", uri: uri, ports: ports)
    }
}
