import CountersignCore
import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@Suite("What must be unique is, and the error says which")
struct ConstraintTests {
    /// Expects a unique violation of some columns.
    private func expectViolation(
        _ columns: String, in world: World, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (any Stores) throws -> Void
    ) async {
        await #expect(
            throws: Engine.chosen.uniqueViolation(of: columns), sourceLocation: sourceLocation
        ) { try await world.store.commit(body) }
    }

    @Test("Every key, and every other column that must be unique")
    func unique() async throws {
        let world = try await World()
        let shop = try await world.makeClient(waives: true).client
        let user = try await world.makeUser("x", of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        try await world.makeType()
        let asked = try await world.ask(try world.request(for: user), by: shop)
        _ = try await device.answer(asked, .denied)
        let now = world.time.now
        let enrollment = try #require(try await world.store.read { try $0.enrollments.find(device.enrollment) })
        let challenge = try await world.challenge(asked)
        let receipt = try #require(try await world.store.read { try $0.receipts.find(of: asked.challenge.id) })
        let ticket = try #require(
            try await world.store.read { try $0.tickets.find(SecretHash(of: device.invitation.ticket)) })
        await expectViolation("clients.id", in: world) { try $0.clients.insert(shop, callbackSecret: nil) }
        await expectViolation("users.id", in: world) { try $0.users.insert(user, at: now) }
        await expectViolation("tickets.hash", in: world) { try $0.tickets.insert(ticket) }
        await expectViolation("challenges.id", in: world) { try $0.challenges.insert(challenge, targets: []) }
        await expectViolation("receipts.challenge_id", in: world) { try $0.receipts.insert(receipt) }
        await expectViolation("enrollments.fingerprint", in: world) {
            let copy = Enrollment(
                id: EnrollmentID(at: now, random: [UInt8](repeating: 0, count: 10)), user: user, client: shop.id,
                state: .active, credential: enrollment.credential, device: enrollment.device, createdAt: now)
            try $0.insert(copy, certificate: [])
        }
        let answer = RecordedAnswer(
            challenge: asked.challenge.id, status: ChallengeStatus(state: "denied", reason: nil))
        await expectViolation("answers.enrollment_id, answers.digest", in: world) {
            for _ in 0..<2 { try $0.answers.insert(answer, by: device.enrollment, digest: [9], at: now) }
        }
        let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: []))
        await expectViolation("replies.scope, replies.key", in: world) {
            for _ in 0..<2 { try $0.replies.insert(KeptForm([:]), for: key, at: now) }
        }
        let message = OutboxMessage(
            id: world.newID(), content: .callback(CallbackURI(stored: World.callback), client: shop.id, body: []),
            dueAt: now, expiresAt: now)
        await expectViolation("outbox.id", in: world) { for _ in 0..<2 { try $0.outbox.enqueue(message) } }
        #expect(try await world.count("outbox") == 0, "the first of the two is undone with the second")
    }

    @Test("There is one operator")
    func oneOperator() async throws {
        let world = try await World()
        _ = try await FirstStart.prepare(store: world.store, time: world.time, random: world.random)
        let second = Client(
            id: world.newID(), name: try ClientName("Second"), secretHash: nil, rights: [], callbackURIs: [],
            waivesEnrollmentApproval: false, isOperator: true, createdAt: world.time.now)
        await expectViolation("clients.is_operator", in: world) { try $0.clients.insert(second, callbackSecret: nil) }
    }

    @Test("A reference to nothing is a fault of ours, not a duplicate", arguments: Engine.allCases)
    func foreignKeys(_ engine: Engine) async throws {
        let world = try await World(engine)
        let shop = try await world.makeClient().client
        let nobody: UserID = world.newID()
        let error = await #expect(throws: StoreError.self) {
            try await world.store.commit { _ = try $0.links.put(nobody, to: shop.id, externalID: nil) }
        }
        guard case .engine(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.uppercased().contains("FOREIGN KEY"))
        #expect(try await world.count("user_links") == 0)
    }

    @Test(
        "A row that does not make sense is a corrupt row, not a crash and not a guess",
        arguments: [
            "UPDATE challenges SET state = 'maybe'", "UPDATE challenges SET nonce = x'00'",
            "UPDATE challenges SET message = ''", "UPDATE challenges SET details = '{'",
            "UPDATE challenges SET client_name = 'a (b)'", "UPDATE challenges SET type = 'A'",
            "UPDATE challenges SET state = 'failed', ended_at = 1", "UPDATE challenges SET state = 'approved'",
            "UPDATE challenges SET state = 'cancelled'", "UPDATE challenges SET context = 'a' || char(10)",
        ])
    func corruptChallenge(_ damage: String) async throws {
        let world = try await World()
        try await world.makeType()
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        _ = try await world.makeDevice(of: user, by: shop)
        let id = try await world.ask(try world.request(for: user), by: shop).challenge.id
        #expect(try await world.store.read { try $0.challenges.find(id)?.id } == id)
        try await world.sql(damage)
        let error = await #expect(throws: StoreError.self) {
            try await world.store.read { try $0.challenges.find(id)?.id }
        }
        guard case .corruptRow? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
