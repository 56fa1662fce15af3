import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

/// Every query the hot path makes has an index, whatever it is: the statements are collected while everything that
/// happens often happens, and the database is asked how it runs each.
@Suite("No query that runs often reads a table that grows")
struct QueryPlanTests {
    /// What may be read from end to end, and why.
    private static let allowedScans = [
        // A value made of constants, not a table.
        "SCAN CONSTANT ROW", "SCAN 2 CONSTANT ROWS", "SCAN 3 CONSTANT ROWS", "SCAN facts",
        // The recent asks of one user that were found by an index, no more than the limit of their type.
        "SCAN recent LEFT-JOIN",
        // The open challenges of one user that were found by an index, no more than the limit of their type.
        "SCAN open",
        // The lanes of the outbox, each found by an index, and what is due in each, no more than are taken at once.
        "SCAN lanes", "SCAN due",
    ]

    /// Indexes of what is open, waiting or given up: in a database as small as this one PostgreSQL takes one of them
    /// whole where it would look up a key among many.
    private static let partialIndexes = ["challenges_overdue", "outbox_lanes", "outbox_dead_list"]

    let recorder: RecordingEngine
    let world: World

    init() async throws {
        (world, recorder) = try await World.recorded()
        // The schema and the first start run once.
        _ = recorder.take()
    }

    /// The steps of a statement's plan.
    private func plan(of run: RecordingEngine.Run) async throws -> [String] {
        let (words, column) = Engine.chosen == .sqlite ? ("EXPLAIN QUERY PLAN", 3) : ("EXPLAIN (COSTS OFF)", 0)
        let explained = SQLStatement("\(words) \(run.statement.text)")
        return try await world.engine.write { connection in
            (try connection.rows(explained, run.arguments).map { try $0.text(column) }, changes: [])
        }
    }

    /// The steps of a statement's plan that read a whole table or a whole index.
    private func scans(in run: RecordingEngine.Run) async throws -> [String] {
        let steps = try await plan(of: run)
        switch Engine.chosen {
        case .sqlite:
            return steps.filter { $0.hasPrefix("SCAN") && !Self.allowedScans.contains($0) }
        case .postgresql:
            // What an index is asked for stands below the step that asks. Connections of ours take another way than
            // from end to end wherever there is one.
            return zip(steps, steps.dropFirst() + [""]).filter { step, next in
                step.contains("Seq Scan")
                    || (step.contains(#/Index (Only )?Scan/#) && !next.contains("Index Cond:")
                        && !Self.partialIndexes.contains { step.contains($0) })
            }.map(\.0)
        }
    }

    func expectIndexed(_ verbs: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let runs = recorder.take()
        for verb in verbs {
            #expect(
                runs.contains { $0.statement.text.contains(verb) }, "nothing ran \(verb)",
                sourceLocation: sourceLocation)
        }
        for run in runs {
            let scans = try await scans(in: run)
            #expect(scans == [], "in \(run.statement.text)", sourceLocation: sourceLocation)
        }
        _ = recorder.take()
    }

    func scene() async throws -> (client: Client, user: UserID, device: TestDevice) {
        try await world.makeType()
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser("customer", of: client)
        return (client, user, try await world.makeDevice(of: user, by: client))
    }

    @Test("Making users and tickets, enrolling a device")
    func enrolling() async throws {
        let (client, user, device) = try await scene()
        guard case .enrollment = try await ShowOwnEnrollment.show(to: try await device.call(), ports: world.ports)
        else {
            throw World.Broken("own enrollment")
        }
        let name = UserReference.externalID(try ExternalID("customer"))
        #expect(try await world.store.read { try $0.links.find(name, of: client.id)?.id } == user)
        #expect(try await world.store.read { try $0.enrollments.all(of: user).count } == 1)
        try await expectIndexed([
            "INSERT INTO users", "INSERT INTO tickets", "UPDATE tickets", "INSERT INTO enrollments",
            "FROM enrollments WHERE fingerprint", "FROM enrollments WHERE user_id", "INSERT INTO nonces",
            "FROM user_links", "INSERT INTO audit",
        ])
    }

    @Test("Enrolling a device that has JWKs, and its answer")
    func jwks() async throws {
        let (client, user, _) = try await scene()
        let device = try await world.makeJWKDevice(of: user, by: client, verifies: true)
        try await world.makeWeakType()
        let asked = try await world.ask(try world.request(for: user, type: "tap"), by: client)
        guard case .decided = try await device.answer(asked) else { throw World.Broken("answer") }
        try await expectIndexed([
            "FROM device_keys", "INSERT INTO device_keys", "INSERT INTO enrollments", "INSERT INTO receipts",
            "INSERT INTO nonces", "FROM answers",
        ])
    }

    @Test("Asking, waiting, opening, answering, and what tells the end")
    func cycle() async throws {
        let (client, user, device) = try await scene()
        _ = recorder.take()
        let ports = world.ports
        let caller = try await AuthenticateClient.authenticate("\(client.id)", secret: Secret(""), ports: ports)
        #expect(caller == .refused)
        let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: [1]))
        var request = try world.request(for: user)
        request.callbackURI = CallbackURI(stored: World.callback)
        let result = try await AskChallenge.ask(request, by: client.credential, idempotency: key, ports: ports)
        guard case .done(.asked(let asked)) = result else { throw World.Broken("challenge") }
        let id = asked.challenge.id
        guard
            case .ended(.list(let list, _)) = try await PendingChallenges.list(
                for: try await device.call(), waitingUntil: world.time.now.adding(seconds: 1), since: nil,
                changes: ports.changes, ports: ports)
        else { throw World.Broken("list") }
        #expect(list.count == 1)
        let poll = Task {
            try await WatchChallenge.end(
                of: id, for: client, by: world.time.now.adding(seconds: 60), ports: ports)
        }
        guard case .decided = try await device.answer(asked, .denied) else { throw World.Broken("answer") }
        #expect(try await poll.value?.challenge.state.status.state == "denied")
        guard case .receipt = try await ShowReceipt.receipt(of: id, to: client.id, ports: ports) else {
            throw World.Broken("receipt")
        }
        let second = try await world.ask(request, by: client)
        guard case .invalid = try await device.answer(second.challenge.id, with: [1]) else {
            throw World.Broken("refused answer")
        }
        guard case .cancelled = try await CancelChallenge.cancel(second.challenge.id, by: client.caller, ports: ports)
        else { throw World.Broken("cancellation") }
        try await expectIndexed([
            "FROM clients WHERE id", "FROM replies", "INSERT INTO replies",
            "SELECT asked_at, state, ended_at FROM challenges", "LEFT JOIN challenges",
            "SELECT count(*)", "INSERT INTO challenges", "INSERT INTO challenge_targets", "AND EXISTS",
            "FROM challenges WHERE id", "FROM challenge_targets WHERE", "UPDATE challenge_targets", "UPDATE challenges",
            "INSERT INTO receipts", "FROM receipts", "INSERT INTO answers", "JOIN answers", "INSERT INTO outbox",
            "SELECT removed_at", "FROM asking_locks", "INSERT INTO nonces", "INSERT INTO attempts",
        ])
    }

    @Test("The open challenges of a user are counted by the index of those that are open, not of all there ever were")
    func openChallenges() async throws {
        let (client, user, device) = try await scene()
        try await device.register(.fcm, token: "a:b")
        let asked = try await world.ask(try world.request(for: user), by: client)
        // More of this user that have ended, and many that are open of others; the database knows how many.
        let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
        let columns =
            "client_id, client_name, type, nonce, asked_at, details, message, alert, methods, expires_at, channel, purpose"
        try await world.sql("\(numbers) INSERT INTO users (id, created_at) SELECT 'other' || i, 0 FROM n")
        for (owner, state, count) in [("user_id", "cancelled", 2), ("'other' || i", "pending", 2000)] {
            try await world.sql(
                """
                \(numbers) INSERT INTO challenges (id, user_id, state, \(columns))
                SELECT id || '\(state)' || i, \(owner), '\(state)', \(columns) FROM challenges, n
                WHERE challenges.user_id = $1 AND state = 'pending' AND i <= \(count)
                """, [.text("\(user)")])
        }
        try await world.sql("ANALYZE challenges")
        _ = recorder.take()
        let now = world.time.now
        let open = try await world.store.read {
            try $0.challenges.asks(
                of: user, by: client.id, now: now, since: now.adding(-3600), limits: (10, 10)
            ).open
        }
        let subject = AnnounceChallenge.Subject(asked.challenge.id, to: device.enrollment)
        let badge = try await world.store.read {
            try $0.pushes.announcementFacts(of: [subject], now: now, limit: 10).first??.badge
        }
        #expect(open == 1 && badge == 1)
        let counts = recorder.take().filter { $0.statement.text.contains("SELECT count(*)") }
        #expect(counts.count == 2)
        for count in counts {
            let steps = try await plan(of: count)
            #expect(steps.contains { $0.uppercased().contains(#/(INDEX|USING|ON) CHALLENGES_OPEN/#) }, "\(steps)")
        }
    }

    @Test("Emptying the outbox")
    func outbox() async throws {
        let client = try await world.makeClient().client
        let now = world.time.now
        let ids = try await world.enqueueCallbacks(of: client.id)
        #expect(try await world.store.nextDue() == now)
        #expect(try await world.store.lease(limit: 16, now: now, until: now.adding(seconds: 60)).count == 3)
        #expect(try await world.store.callbackSecret(of: client.id) != nil)
        try await world.store.commit { _ = try $0.outbox.settle([ids[0]: .delivered], at: now) }
        try await world.store.commit {
            _ = try $0.outbox.settle([ids[1]: .retried("e", at: now.adding(seconds: 2))], at: now)
        }
        try await world.store.commit { _ = try $0.outbox.settle([ids[2]: .abandoned("e")], at: now) }
        try await world.store.endLeases(at: now, longest: 60)
        #expect(try await world.count("outbox", where: "state = 'dead'") == 1)
        _ = recorder.take()
        _ = try await world.store.nextDue()
        _ = try await world.store.lease(limit: 16, now: now, until: now)
        try await world.store.commit { _ = try $0.outbox.settle([ids[0]: .delivered], at: now) }
        try await world.store.commit { _ = try $0.outbox.settle([ids[1]: .retried("e", at: now)], at: now) }
        try await world.store.commit { _ = try $0.outbox.settle([ids[2]: .abandoned("e")], at: now) }
        try await world.store.endLeases(at: now, longest: 60)
        try await expectIndexed([
            "SELECT min(due_at)", "RETURNING id", "state = 'delivered'", "attempts = attempts + 1, last_error",
            "state = 'dead'", "due_at > $1",
        ])
    }

    @Test("Ending what is over, deleting what is old, removing a device")
    func maintenance() async throws {
        let (client, user, device) = try await scene()
        let asked = try await world.ask(try world.request(for: user), by: client)
        _ = try await world.ask(try world.request(for: user), by: client)
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: client.caller, ports: world.ports)
                == .removed)
        #expect(
            try await world.store.read { try $0.challenges.find(asked.challenge.id)?.state.status.state } == "failed")
        _ = try await world.makeDevice(of: user, by: client)
        _ = try await world.ask(try world.request(for: user), by: client)
        world.time.advance(seconds: 121)
        #expect(try await ExpireChallenges.sweep(ports: world.ports) == 1)
        let now = world.time.now
        _ = try await world.store.commit { try $0.retention.sweep(now: now, limit: 500) }
        #expect(try await world.store.read { try $0.audit.list(after: 1, limit: 100).count } > 0)
        try await expectIndexed([
            "UPDATE enrollments", "AND expires_at <= $1 ORDER BY", "DELETE FROM nonces", "DELETE FROM attempts",
            "DELETE FROM replies", "DELETE FROM tickets", "DELETE FROM answers", "DELETE FROM outbox",
            "FROM audit", "SELECT enrollment_id FROM challenge_targets",
        ])
    }

    @Test("Lists, filters of the audit, retention and erasing")
    func lists() async throws {
        let (client, user, device) = try await scene()
        _ = try await device.answer(try await world.ask(try world.request(for: user), by: client), .denied)
        _ = recorder.take()
        let (ports, fingerprint) = (world.ports, device.certificate.fingerprint)
        _ = try await ListUsers.list(of: client.id, blocked: true, cursor: nil, ports: ports)
        _ = try await ListKnownUsers.all(deleted: nil, cursor: nil, ports: ports)
        for scope in [ListScope.client(client.id), .all] {
            var enrollments = ListEnrollments.Filter()
            _ = try await ListEnrollments.list(enrollments, in: scope, cursor: nil, ports: ports)
            enrollments.fingerprint = fingerprint
            _ = try await ListEnrollments.list(enrollments, in: scope, cursor: nil, ports: ports)
            var challenges = ListChallenges.Filter()
            _ = try await ListChallenges.list(challenges, in: scope, cursor: nil, ports: ports)
            challenges.user = user
            _ = try await ListChallenges.list(challenges, in: scope, cursor: nil, ports: ports)
            var export = try #require(
                try await ExportUser.begin(.id(user), in: scope, by: client.caller, ports: ports).export)
            while let parts = try await export.next(ports: ports) { #expect(parts.count <= 50) }
        }
        let filters: [@Sendable (inout AuditFilter) -> Void] = [
            { $0.kind = .userDeleted }, { $0.client = client.id }, { $0.user = user },
            { $0.enrollment = device.enrollment }, { $0.since = Timestamp(milliseconds: 1) },
        ]
        for change in filters {
            var filter = AuditFilter()
            change(&filter)
            _ = try await world.store.read { [filter] in try $0.audit.list(filter, after: 0, limit: 100) }
        }
        world.time.advance(seconds: 100 * 86_400)
        var retention = Retention()
        (retention.receipts, retention.audit) = (.days(1), .days(1))
        #expect(try await SweepKept.sweep(retention, ports: ports) > 3)
        #expect(try await UnlinkUser.unlink(.id(user), from: client.caller, ports: ports) == .unlinked)
        try await expectIndexed([
            "FROM user_links l JOIN users", "FROM user_links l JOIN enrollments", "FROM challenges WHERE client_id",
            "FROM challenges WHERE user_id", "user_id FROM enrollments WHERE id", "SELECT max(sequence)",
            "DELETE FROM challenges", "DELETE FROM receipts", "DELETE FROM audit", "INTO erasures", "FROM erasures",
            "UPDATE challenges SET message", "SELECT sequence, detail", "DELETE FROM answers",
            "DELETE FROM known_browsers",
        ])
    }

    @Test("A scan of a growing table would be noticed")
    func control() async throws {
        for text in ["SELECT id FROM challenges WHERE state = 'denied'", "SELECT * FROM outbox ORDER BY expires_at"] {
            try await world.sql(text)
            let run = try #require(recorder.take().first)
            let scans = try await scans(in: run)
            #expect(!scans.isEmpty, "in \(run.statement.text)")
            _ = recorder.take()
        }
    }
}
