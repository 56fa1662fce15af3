import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Synchronization
import TestSupport
import Testing

/// Who had an earlier master key and a copy of the database from then could open what it sealed, by the sealing key in the
/// copy; so another master key brings another sealing key.
@Suite("Another master key: everything is sealed again, while the database is used")
struct ResealTests {
    /// A database with something in every sealed column.
    private struct Scene {
        let world: World
        let shop: Client
        let user: UserID
        let device: TestDevice
        let secret: Secret<String>

        init() async throws {
            world = try await World()
            try await world.makeType()
            let made = try await world.makeClient(waives: true)
            shop = made.client
            _ = try await world.renewCallbackSecret(of: shop)
            user = try await world.makeUser("x", of: shop)
            device = try await world.makeDevice(of: user, by: shop)
            _ = try await world.enqueueCallbacks(of: shop.id)
            secret = try #require(try await world.store.callbackSecret(of: shop.id))
            try await fill()
        }

        /// What the usual scenes leave empty, sealed for its place.
        private func fill() async throws {
            let sealer = try world.store.sealer
            func seal(_ text: String, _ place: String) throws -> SQLValue {
                .blob(try sealer.seal(Array(text.utf8), for: place))
            }
            let enrollment = "\(device.enrollment)"
            try await world.sql(
                "UPDATE enrollments SET push_token = $1", [try seal("token", "push token \(enrollment)")])
            try await world.sql(
                "UPDATE clients SET callback_password = $1", [try seal("password", "callback password \(shop.id)")])
            try await world.sql(
                "UPDATE user_links SET claims = $1 WHERE client_id = '\(shop.id)' AND user_id = '\(user)'",
                [try seal(#"{"a":1}"#, "claims \(shop.id) \(user)")])
            let key = try #require(IdempotencyKey(scope: "s", key: "k", requestDigest: []))
            let now = world.time.now
            try await world.store.commit { writer in
                try writer.replies.insert(KeptForm(["value": "reply"]), for: key, at: now)
            }
            _ = try await world.store.replace(
                "apns", issuedAt: nil, by: ProviderToken(text: Secret("provider"), issuedAt: now))
            let asked = try await world.ask(try world.request(for: user), by: shop)
            guard case .decided = try await device.answer(asked, .denied) else { throw World.Broken("answer") }
            try await world.sql(
                """
                INSERT INTO authorizations (id, client_id, wanted, browser, state, ask_number, expires_at)
                VALUES ('aut_1', '\(shop.id)', $1, $2, 'open', $3, 0)
                """,
                [try seal("wanted", "authorization aut_1"), .blob([1]), try seal("123456", "number aut_1")])
            try await world.sql(
                """
                INSERT INTO sessions
                  (id, secret_hash, user_id, enrollment_id, authentication, created_at, idle_until, expires_at, place)
                VALUES ('ses_1', $1, '\(user)', '\(enrollment)', '{}', 0, 0, 0, $2)
                """, [.blob([1]), try seal(#"{"address":"192.0.2.1"}"#, "session place ses_1")])
            try await world.sql(
                """
                INSERT INTO identifiers (id, user_id, kind, name, sealed, added_at)
                VALUES ('idn_1', '\(user)', 'email', $1, $2, 0)
                """, [.blob([1]), try seal("x@example.com", "identifier idn_1")])
            let digest = try #require(try await world.sql("SELECT digest FROM answers").first?.blob(0))
            try await world.sql(
                "UPDATE answers SET custom = $1",
                [try seal(#"{"attempts_left":1,"payload":"p"}"#, "answer \(enrollment) \(Hex.encode(digest))")])
        }

        /// What the columns hold now: each with the names of its rows left out.
        func sealed() async throws -> [String: [[UInt8]]] {
            var found: [String: [[UInt8]]] = [:]
            for column in SealedColumn.all {
                let condition = column.table == "secrets" ? "name NOT LIKE 'data key %'" : "1 = 1"
                let rows = try await world.sql(
                    "SELECT \(column.column) FROM \(column.table) WHERE \(column.column) IS NOT NULL AND \(condition)")
                found["\(column.table).\(column.column)"] = try rows.map { try $0.blob(0) }
            }
            return found
        }

        /// Replaces the master key 7 by 8.
        func rotate() async throws -> SQLStore {
            let (own, next) = (try World.masterKey(), try World.masterKey(8))
            try await world.store.accept(next, besides: own)
            let store = try await SQLStore(engine: world.engine, masterKey: next, issuer: world.ports.issuer)
            #expect(try await store.retireEarlier(than: next, at: world.time.now))
            try await store.refreshKeys()
            return store
        }

        /// A server's part in it, by the world's clock.
        func resealing(batch: Int = 200) -> Resealing {
            let start = world.time.now.milliseconds
            return Resealing(batch: batch) { [time = world.time] in .milliseconds(time.now.milliseconds - start) }
        }

        /// Lets time pass, as a server does that looks at the keys all the while.
        func pass(_ length: Seconds, _ resealing: inout Resealing, in store: SQLStore) async throws
            -> [Resealing.Progress]
        {
            let done = try await steps(&resealing, in: store)
            world.time.advance(length)
            return try await done + steps(&resealing, in: store)
        }

        /// Takes steps until there is none to take.
        func steps(_ resealing: inout Resealing, in store: SQLStore) async throws -> [Resealing.Progress] {
            var done: [Resealing.Progress] = []
            while let progress = try await resealing.step(in: store, at: world.time.now) { done.append(progress) }
            return done
        }
    }

    /// What everything begins with that the second sealing key sealed.
    private static let second: [UInt8] = [2, 0, 0, 0, 1]

    @Test("Every column of bytes is known to be sealed, or known not to be")
    func columns() async throws {
        let world = try await World(.sqlite)
        let open: Set = [
            "clients.secret_hash", "clients.earlier_secret_hash", "bootstrap_tokens.hash", "tickets.hash",
            "enrollments.fingerprint", "enrollments.primary_key", "enrollments.authentication_key",
            "enrollments.encryption_key", "enrollments.pin_key", "enrollments.biometric_key",
            "enrollments.certificate", "challenges.nonce", "challenges.number_hash", "challenges.browser",
            "receipts.signature", "receipts.certificate", "answers.digest", "replies.request_digest",
            "known_browsers.browser", "secrets.certificate", "authorizations.browser", "codes.hash",
            "sessions.secret_hash", "identifiers.name", "removed_addresses.name", "passkeys.credential",
            "passkeys.public_key", "looks.logo_hash", "looks.logo", "users.user_code", "device_keys.thumbprint",
        ]
        let rows = try await world.sql(
            """
            SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
            WHERE m.type = 'table' AND upper(c.type) = 'BLOB'
            """)
        let all = Set(try rows.map { "\(try $0.text(0)).\(try $0.text(1))" })
        let sealed = Set(SealedColumn.all.map { "\($0.table).\($0.column)" })
        #expect(sealed.count == SealedColumn.all.count)
        #expect(sealed.isDisjoint(with: open))
        #expect(all == sealed.union(open), "put a new column into SealedColumn.all, or here")
    }

    @Test("Each step waits until every server holds the keys; then all of it is sealed anew and opens as before")
    func whole() async throws {
        let scene = try await Scene()
        let before = try await scene.sealed()
        for (column, values) in before {
            #expect(!values.isEmpty, "\(column) is empty: the test sees nothing")
            #expect(values.allSatisfy { $0.first == 1 }, "\(column)")
        }
        let store = try await scene.rotate()
        var resealing = scene.resealing(batch: 2)
        #expect(try await scene.steps(&resealing, in: store).isEmpty)
        scene.world.time.advance(RotateIssuerKey.settling - 1)
        #expect(try await scene.steps(&resealing, in: store).isEmpty)
        scene.world.time.advance(seconds: 1)
        #expect(try await scene.steps(&resealing, in: store) == [.promoted])
        #expect(try await scene.sealed() == before, "others still seal by the earlier key")
        scene.world.time.advance(RotateIssuerKey.settling - 1)
        #expect(try await scene.steps(&resealing, in: store).isEmpty)
        scene.world.time.advance(seconds: 1)
        let steps = try await scene.steps(&resealing, in: store)
        #expect(steps.last == .finished)
        let count = steps.reduce(0) { if case .resealed(let count) = $1 { $0 + count } else { $0 } }
        #expect(count > 0)
        let after = try await scene.sealed()
        for (column, values) in after {
            #expect(values.count == before[column]?.count, "\(column)")
            #expect(values.allSatisfy { $0.starts(with: Self.second) }, "\(column)")
        }
        // All of it opens, in a store that was opened later as well.
        let later = try await SQLStore(
            engine: scene.world.engine, masterKey: try World.masterKey(8), issuer: scene.world.ports.issuer)
        for store in [store, later] {
            #expect(try await store.callbackSecret(of: scene.shop.id)?.isSame(as: scene.secret) == true)
            #expect(try await store.providerToken("apns")?.text.reveal() == "provider")
            #expect(try await store.read { try $0.keys.issuerKeys().kept.count } == 3)
        }
        let now = scene.world.time.now
        #expect(try await later.lease(limit: 10, now: now, until: now.adding(seconds: 60)).count > 1)
        #expect(!store.isResealing && !later.isResealing)
    }

    @Test("Who had the earlier master key and a copy of then opens nothing of what is sealed after")
    func earlierCopy() async throws {
        let scene = try await Scene()
        let thief = try scene.world.store.sealer
        let store = try await scene.rotate()
        var resealing = scene.resealing()
        for _ in 0..<2 {
            _ = try await scene.pass(RotateIssuerKey.settling, &resealing, in: store)
        }
        let place = "callback secret \(scene.shop.id)"
        let value = try #require(try await scene.sealed()["clients.callback_secret"]?.first)
        #expect(throws: StoreError.corruptRow("sealed \(place)")) { _ = try thief.open(value, for: place) }
        #expect(try store.sealer.open(value, for: place) == Array(scene.secret.reveal().utf8))
    }

    @Test("A server that ends in the middle leaves nothing behind that does not open; another one goes on")
    func cutOff() async throws {
        let scene = try await Scene()
        let store = try await scene.rotate()
        var first = scene.resealing(batch: 1)
        #expect(try await scene.pass(RotateIssuerKey.settling, &first, in: store) == [.promoted])
        scene.world.time.advance(RotateIssuerKey.settling)
        for _ in 0..<5 { _ = try await first.step(in: store, at: scene.world.time.now) }
        let kinds = Set(try await scene.sealed().values.joined().map { $0.first ?? 0 })
        #expect(kinds == [1, 2], "in the middle")
        let other = try await SQLStore(
            engine: scene.world.engine, masterKey: try World.masterKey(8), issuer: scene.world.ports.issuer)
        #expect(try await other.callbackSecret(of: scene.shop.id)?.isSame(as: scene.secret) == true)
        // What is written in between is sealed by the new key, and both finish.
        let renewed = try await scene.world.renewCallbackSecret(of: scene.shop)
        var second = scene.resealing(batch: 3)
        #expect(try await scene.pass(RotateIssuerKey.settling, &second, in: other).last == .finished)
        try await store.refreshKeys()
        #expect(try await scene.steps(&first, in: store).isEmpty)
        #expect(try await other.callbackSecret(of: scene.shop.id)?.isSame(as: renewed.secret) == true)
    }

    @Test("A server that lost its turn in the middle of a pass begins anew in the next rotation, and loses nothing")
    func otherTurn() async throws {
        let scene = try await Scene()
        let store = try await scene.rotate()
        var (first, second) = (scene.resealing(batch: 1), scene.resealing())
        #expect(try await scene.pass(RotateIssuerKey.settling, &first, in: store) == [.promoted])
        scene.world.time.advance(RotateIssuerKey.settling)
        for _ in 0..<5 { _ = try await first.step(in: store, at: scene.world.time.now) }
        // Another has the turn, and finishes it.
        #expect(try await scene.pass(RotateIssuerKey.settling, &second, in: store).last == .finished)
        let (own, next) = (try World.masterKey(8), try World.masterKey(9))
        try await store.accept(next, besides: own)
        let later = try await SQLStore(engine: scene.world.engine, masterKey: next, issuer: scene.world.ports.issuer)
        #expect(try await later.retireEarlier(than: next, at: scene.world.time.now))
        try await later.refreshKeys()
        #expect(try await scene.pass(RotateIssuerKey.settling, &second, in: later) == [.promoted])
        // The first one has the turn again, with what it remembers.
        #expect(try await scene.pass(RotateIssuerKey.settling, &first, in: later).last == .finished)
        #expect(try await scene.sealed().values.joined().allSatisfy { $0.starts(with: [2, 0, 0, 0, 2]) })
        try await later.refreshKeys()
        #expect(try await later.callbackSecret(of: scene.shop.id)?.isSame(as: scene.secret) == true)
    }

    @Test("A master key accepted while the keys change clashes with the change: neither is lost", arguments: 0..<8)
    func acceptedMeanwhile(_ round: Int) async throws {
        let scene = try await Scene()
        let store = try await scene.rotate()
        var resealing = scene.resealing()
        #expect(try await scene.steps(&resealing, in: store).isEmpty)
        scene.world.time.advance(RotateIssuerKey.settling)
        let now = scene.world.time.now
        let (own, next) = (try World.masterKey(8), try World.masterKey(9))
        async let accepted: Void = store.accept(next, besides: own)
        async let progress = { [resealing] in
            var resealing = resealing
            return try await resealing.step(in: store, at: now)
        }()
        _ = try? await (accepted, progress)
        // Whichever came first, both master keys open the same keys, or one alone opens them.
        for key in try await store.masterKeys() {
            let masterKey = key == own.id ? own : next
            let opened = try await SQLStore(
                engine: scene.world.engine, masterKey: masterKey, issuer: scene.world.ports.issuer)
            try await store.refreshKeys()
            #expect(try opened.sealer.prefix == (try store.sealer.prefix), "\(round)")
        }
    }

    @Test("A rotation begun before the one before is done brings a key that no earlier master key wrapped")
    func again() async throws {
        let scene = try await Scene()
        let store = try await scene.rotate()
        // 8 opens the ring with the key that is to come; then 9 takes its place.
        let thief = store
        let (own, next) = (try World.masterKey(8), try World.masterKey(9))
        try await store.accept(next, besides: own)
        var resealing = scene.resealing()
        let steps = try await scene.pass(RotateIssuerKey.settling, &resealing, in: store)
        #expect(steps.isEmpty, "nothing changes while two master keys open it")
        let later = try await SQLStore(engine: scene.world.engine, masterKey: next, issuer: scene.world.ports.issuer)
        #expect(try await later.retireEarlier(than: next, at: scene.world.time.now))
        try await later.refreshKeys()
        for _ in 0..<2 {
            _ = try await scene.pass(RotateIssuerKey.settling, &resealing, in: later)
        }
        let values = try await scene.sealed().values.joined()
        #expect(values.allSatisfy { $0.starts(with: [2, 0, 0, 0, 2]) })
        let place = "callback secret \(scene.shop.id)"
        let value = try #require(try await scene.sealed()["clients.callback_secret"]?.first)
        #expect(throws: StoreError.corruptRow("sealed \(place)")) { _ = try thief.sealer.open(value, for: place) }
        await #expect(throws: StoreError.self) { try await thief.refreshKeys() }
    }

    @Test("While a rotation is not finished, one pass seals everything and the earlier keys stay; then they go")
    func unfinished() async throws {
        let scene = try await Scene()
        let store = try await scene.rotate()
        var resealing = scene.resealing()
        #expect(try await scene.pass(RotateIssuerKey.settling, &resealing, in: store) == [.promoted])
        let (own, next) = (try World.masterKey(8), try World.masterKey(9))
        try await store.accept(next, besides: own)
        scene.world.time.advance(RotateIssuerKey.settling)
        let steps = try await scene.steps(&resealing, in: store)
        #expect(!steps.isEmpty && !steps.contains(.finished))
        #expect(try await scene.sealed().values.joined().allSatisfy { $0.starts(with: Self.second) })
        // It does not begin again and again.
        #expect(try await scene.steps(&resealing, in: store).isEmpty)
        #expect(store.isResealing)
        let later = try await SQLStore(engine: scene.world.engine, masterKey: next, issuer: scene.world.ports.issuer)
        #expect(try await later.retireEarlier(than: next, at: scene.world.time.now))
        try await later.refreshKeys()
        for _ in 0..<2 {
            _ = try await scene.pass(RotateIssuerKey.settling, &resealing, in: later)
        }
        #expect(!later.isResealing)
        #expect(try await scene.sealed().values.joined().allSatisfy { $0.starts(with: [2, 0, 0, 0, 2]) })
    }

    @Test("Keys that could not be read for a minute do nothing, and read again do all")
    func stale() async throws {
        let world = try await World()
        let shop = try await world.makeClient().client
        let clock = Mutex(Duration.zero)
        let elapsed: @Sendable () -> Duration = { clock.withLock { $0 } }
        let store = try await SQLStore(
            engine: world.engine, masterKey: try World.masterKey(), issuer: world.ports.issuer, elapsed: elapsed)
        try await store.refreshKeys()
        // A command's keys do not get old; a server's do.
        clock.withLock { $0 += .seconds(1000) }
        #expect(try await store.callbackSecret(of: shop.id) != nil)
        store.letKeysAge()
        for work in [0, 1, 2] {
            await #expect(throws: StoreError.unavailable) {
                switch work {
                case 0: _ = try await store.callbackSecret(of: shop.id)
                case 1: _ = try store.issuerKeySource.current()
                default: try await store.commit { $0.notify(.keys) }
                }
            }
        }
        try await store.refreshKeys()
        clock.withLock { $0 += .seconds(59) }
        _ = try store.issuerKeySource.current()
        #expect(try await store.callbackSecret(of: shop.id) != nil)
        clock.withLock { $0 += .seconds(1) }
        #expect(throws: StoreError.unavailable) { _ = try store.issuerKeySource.current() }
    }

    @Test("A server whose master key was replaced reads the new one where it is kept; the earlier one opens nothing")
    func otherMasterKey() async throws {
        let scene = try await Scene()
        _ = try await scene.rotate()
        await #expect(throws: StoreError.self) {
            try await scene.world.store.refreshKeys(masterKey: { try World.masterKey() })
        }
        try await scene.world.store.refreshKeys(masterKey: { try World.masterKey(8) })
        #expect(scene.world.store.isResealing)
        try await scene.world.store.refreshKeys()
    }
}
