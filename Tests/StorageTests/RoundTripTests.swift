import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@Suite("What is stored comes back", .serialized)
struct RoundTripTests {
    /// A text with everything that storage could spoil: quotes, a placeholder, a backslash, letters of two to four
    /// bytes, an LF.
    static let text = "'\"$1 \\0 %s; DROP TABLE users --\n\u{E9}\u{20AC}\u{1F600}"

    @Test("Clients, with and without a secret, rights and callbacks", arguments: Engine.allCases)
    func clients(_ engine: Engine) async throws {
        let world = try await World(engine)
        let clients = [
            Client(
                id: world.newID(), name: try ClientName("Ünï'\"$1 ACME"), secretHash: SecretHash(of: Secret("s")),
                rights: [.users, .challenges],
                callbackURIs: ["https://a.example.com/?a=$1&b='", "https://b.example.com/"].map(
                    CallbackURI.init(stored:)),
                waivesEnrollmentApproval: true, vendors: [.cotter, .oneWelcome], isOperator: false,
                createdAt: Timestamp(milliseconds: 1)),
            Client(
                id: world.newID(), name: try ClientName("O"), secretHash: nil, rights: [], callbackURIs: [],
                waivesEnrollmentApproval: false, isOperator: true, createdAt: Timestamp(milliseconds: .max)),
        ]
        try await world.store.commit { writer in
            for client in clients {
                try writer.clients.insert(client, callbackSecret: client.isOperator ? nil : Secret("whsec_x"))
            }
        }
        for client in clients {
            let kept = try #require(try await world.store.read { try $0.clients.find(client.id) })
            #expect(kept.name == client.name)
            #expect(kept.secretHash == client.secretHash)
            #expect(kept.rights == client.rights && kept.vendors == client.vendors)
            #expect(kept.callbackURIs == client.callbackURIs)
            #expect(kept.waivesEnrollmentApproval == client.waivesEnrollmentApproval)
            #expect(kept.isOperator == client.isOperator)
            #expect(kept.createdAt == client.createdAt)
        }
        let changes = ClientChanges(
            name: try ClientName(Self.text.filter { $0 != "\n" && $0 != "(" }), rights: [.enrollments],
            callbackURIs: [CallbackURI(stored: "https://c.example.com/")], waivesEnrollmentApproval: false)
        let credentials = try #require(BasicCredentials(username: "'\"$1 é", password: Secret("\\0 %s: \u{1F600}")))
        try await world.store.commit { writer in
            try writer.clients.update(clients[0].id, changes)
            // What is not named stays.
            try writer.clients.update(clients[0].id, ClientChanges(basic: .set(credentials)))
        }
        let kept = try #require(try await world.store.read { try $0.clients.find(clients[0].id) })
        #expect(kept.name == changes.name && kept.rights == changes.rights && kept.vendors == clients[0].vendors)
        try await world.store.commit { try $0.clients.update(clients[0].id, ClientChanges(vendors: [.okta])) }
        let switched = try #require(try await world.store.read { try $0.clients.find(clients[0].id) })
        #expect(switched.vendors == [.okta] && switched.rights == changes.rights)
        #expect(kept.callbackURIs == changes.callbackURIs && !kept.waivesEnrollmentApproval)
        #expect(kept.callbackUsername == credentials.username)
        // What does not change with an update.
        #expect(kept.secretHash == clients[0].secretHash && !kept.isOperator && kept.createdAt == clients[0].createdAt)
        let receiver = CallbackReceiver(of: kept.id, at: kept.callbackURIs[0])
        let others = [
            CallbackReceiver(of: clients[1].id, at: receiver.uri),
            CallbackReceiver(of: world.newID(), at: receiver.uri),
        ]
        let access = try await world.store.callbackAccess(to: Set([receiver] + others), at: world.time.now)
        #expect(Set(access.keys) == [receiver])
        #expect(access[receiver]?.basic?.password.isSame(as: credentials.password) == true)
        #expect(try await world.store.read { try $0.clients.operatorClient()?.id } == clients[1].id)
        #expect(try await world.store.read { try $0.clients.all().map(\.id) } == clients.map(\.id).sorted())
        #expect(try await world.store.callbackSecret(of: clients[0].id)?.reveal() == "whsec_x")
        #expect(try await world.store.callbackSecret(of: clients[1].id)?.reveal() == nil)
        #expect(try await world.store.callbackSecret(of: world.newID())?.reveal() == nil)
        let unknown: ClientID = world.newID()
        #expect(try await world.store.read { try $0.clients.find(unknown)?.id } == nil)
    }

    @Test("The bootstrap token and the types are replaced, not added", arguments: Engine.allCases)
    func replaced(_ engine: Engine) async throws {
        let world = try await World(engine)
        #expect(try await world.store.read { try $0.keys.bootstrapToken()?.expiresAt } == nil)
        for round: Int64 in [1, 2] {
            let type = ChallengeType(
                name: .confirm, methods: [.confirm], lifetime: Seconds(10 * round), numberEntry: round == 1,
                signingData: round == 2, assurance: .event, maximumPending: 1, maximumAsks: 1000, denialPause: 0,
                maximumResends: 100)
            try await world.store.commit { writer in
                try writer.keys.put(
                    BootstrapToken(hash: SecretHash(of: Secret("\(round)")), expiresAt: Timestamp(milliseconds: round)))
                try writer.types.put(type)
            }
            let token = try #require(try await world.store.read { try $0.keys.bootstrapToken() })
            #expect(token.hash == SecretHash(of: Secret("\(round)")))
            #expect(token.expiresAt == Timestamp(milliseconds: round))
            #expect(try await world.store.read { try $0.types.all().map(\.json) } == [type.json])
            #expect(try await world.store.read { try $0.types.find(.confirm)?.json } == type.json)
        }
        #expect(try await world.count("bootstrap_tokens") == 1)
    }

    @Test("Users and their links: by id, by each client's own name, renamed, unlinked", arguments: Engine.allCases)
    func users(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient().client.id
        let rival = try await world.makeClient("Rival").client.id
        let user: UserID = world.newID()
        let other: UserID = world.newID()
        let name = try ExternalID("o'Neill\"$1;é\u{1F600}")
        let at = Timestamp(milliseconds: -1)
        let linked = try await world.store.commit { writer in
            try writer.users.insert(user, at: at)
            try writer.users.insert(other, at: at)
            return [
                try writer.links.put(user, to: shop, externalID: name),
                try writer.links.put(user, to: rival, externalID: nil),
                try writer.links.put(other, to: rival, externalID: name),
                try writer.links.put(other, to: shop, externalID: nil),
                try writer.links.put(other, to: shop, externalID: name),
            ]
        }
        #expect(linked == [true, true, true, true, false], "a name is unique per client")
        let kept = try #require(try await world.store.read { try $0.links.find(.externalID(name), of: shop) })
        #expect(kept.id == user)
        #expect(kept.externalID == name)
        #expect(kept.createdAt == at)
        #expect(try await world.store.read { try $0.links.find(.externalID(name), of: rival)?.id } == other)
        #expect(try await world.store.read { try $0.links.find(.id(user), of: rival)?.externalID } == nil)
        #expect(try await world.store.read { try $0.links.count(of: user) } == 2)
        try await world.store.commit { writer in
            #expect(try writer.links.put(user, to: shop, externalID: nil))
            #expect(try writer.links.put(other, to: shop, externalID: name))
            try writer.links.delete(user, from: rival)
            try writer.users.markDeleted(user, at: at)
        }
        #expect(try await world.store.read { try $0.links.find(.externalID(name), of: shop)?.id } == other)
        #expect(try await world.store.read { try $0.links.find(.id(user), of: rival)?.id } == nil)
        #expect(try await world.store.read { try $0.links.count(of: user) } == 1)
        #expect(try await world.count("users", where: "deleted_at = -1") == 1)
    }

    @Test("Tickets and enrollments, active and removed", arguments: Engine.allCases)
    func enrollments(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        let removedAt = Timestamp(milliseconds: 9_007_199_254_740_993)
        let hash = SecretHash(of: device.invitation.ticket)
        #expect(try await world.store.read { try $0.tickets.find(hash)?.spentAt } == world.time.now)
        let removals = try await world.store.commit { writer in
            [
                try writer.enrollments.remove(device.enrollment, reason: .user, at: removedAt),
                try writer.enrollments.remove(device.enrollment, reason: .client, at: world.time.now),
            ]
        }
        #expect(removals == [true, false], "the first removal stays")
        let kept = try #require(try await world.store.read { try $0.enrollments.find(device.enrollment) })
        #expect(kept.state == .removed(.user, at: removedAt))
        #expect(try await world.store.read { try $0.enrollments.state(device.enrollment) } == kept.state)
        #expect(try await world.store.read { try $0.enrollments.active(of: user).count } == 0)
        #expect(try await world.store.read { try $0.enrollments.all(of: user).map(\.id) } == [device.enrollment])
        #expect(try await world.store.read { try $0.enrollments.isEnrolled(device.certificate.fingerprint) })
        #expect(kept.keys?.authentication.publicKey.body == device.certificate.subkeys[0].publicKey.body)
        #expect(kept.keys?.encryption.publicKey.body == device.certificate.subkeys[1].publicKey.body)
        let unknown: EnrollmentID = world.newID()
        #expect(try await world.store.read { try $0.enrollments.state(unknown) } == nil)
        #expect(try await world.store.read { try $0.methods.certificate(of: unknown) } == nil)
    }

    @Test("Outcomes kept for repeats, with every byte in them", arguments: Engine.allCases)
    func replies(_ engine: Engine) async throws {
        let world = try await World(engine)
        let key = try #require(
            IdempotencyKey(scope: Self.text, key: "'$1\"", requestDigest: MessageDigest(stored: Array(0...255))))
        let every = String(String.UnicodeScalarView((0...255).map { Unicode.Scalar(UInt8($0)) }))
        for (number, form) in [KeptForm([:]), KeptForm(["value": .string(every)])].enumerated() {
            let key = try #require(
                IdempotencyKey(scope: "\(key.scope)\(number)", key: key.key, requestDigest: key.requestDigest))
            try await world.store.commit {
                try $0.replies.insert(form, for: key, at: world.time.now)
            }
            let kept = try #require(try await world.store.read { try $0.replies.find(key) })
            #expect(kept.form.stored == form.stored)
            #expect(kept.requestDigest == key.requestDigest)
        }
    }

    @Test("The audit, in the order of writing, page by page", arguments: Engine.allCases)
    func audit(_ engine: Engine) async throws {
        let world = try await World(engine)
        let actors: [Actor] = [
            .client(world.newID()), .device(world.newID()), .operator(world.newID()), .bootstrap(world.newID()),
            .system,
        ]
        let events = AuditEventKind.allCases.enumerated().map { number, kind in
            AuditEvent(
                id: world.newID(), at: Timestamp(milliseconds: -Int64(number)), kind: kind,
                actor: actors[number % actors.count], client: number.isMultiple(of: 2) ? nil : world.newID(),
                user: world.newID(), enrollment: nil,
                challenge: number.isMultiple(of: 3) ? world.newID() : nil,
                detail: number == 0 ? [:] : ["text": .string(Self.text), "n": .integer(.min)])
        }
        try await world.store.commit { writer in for event in events { try writer.audit.append(event) } }
        var sequence: Int64 = 0
        var kept: [AuditEvent] = []
        while true {
            let page = try await world.store.read { [sequence] in try $0.audit.list(after: sequence, limit: 5) }
            guard let last = page.last else { break }
            #expect(page.count <= 5)
            sequence = last.sequence
            kept += page.map(\.event)
        }
        #expect(kept.map(\.id) == events.map(\.id))
        #expect(kept.map(\.at) == events.map(\.at))
        #expect(kept.map(\.kind) == events.map(\.kind))
        #expect(kept.map(\.actor) == events.map(\.actor))
        #expect(kept.map(\.client) == events.map(\.client))
        #expect(kept.map(\.challenge) == events.map(\.challenge))
        #expect(kept.map { JSONValue.object($0.detail) } == events.map { JSONValue.object($0.detail) })
    }

    @Test("Attempts count within their window and start anew after it", arguments: Engine.allCases)
    func attempts(_ engine: Engine) async throws {
        let world = try await World(engine)
        let start = world.time.now
        func count(_ key: String, _ offset: Int64) async throws -> AttemptCount {
            try await world.store.commit { try $0.attempts.count(key, window: 60, at: start.adding(seconds: offset)) }
        }
        // The clock of a node may be behind by less than a window, and then counts on.
        let expected: [(offset: Int64, number: Int, end: Int64)] = [
            (0, 1, 60), (0, 2, 60), (59, 3, 60), (60, 1, 120), (61, 2, 120), (119, 3, 120), (120, 1, 180), (60, 2, 180),
            (59, 1, 119), (60, 2, 119), (-1000, 1, -940),
        ]
        for (offset, number, end) in expected {
            let counted = try await count("answer 'x'", offset)
            #expect(counted == AttemptCount(number: number, windowEnd: start.adding(seconds: end)), "at \(offset)")
        }
        #expect(try await count("other", 0).number == 1)
        let status = try await world.store.commit { writer in
            try writer.attempts.forget("answer 'x'")
            return try ["answer 'x'", "other", "none"].map { try writer.attempts.find($0, at: start) }
        }
        #expect(status == [nil, AttemptCount(number: 1, windowEnd: start.adding(seconds: 60)), nil])
        #expect(try await world.store.read { try $0.attempts.find("other", at: start.adding(seconds: 60)) } == nil)
    }
}
