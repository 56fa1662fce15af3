import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// Plays the thief of a whole copy, without the master key and with it.
///
/// What comes of each attempt stands in `docs/security/threat-model.md`.
@Suite("A stolen database: what its thief reads, forges and guesses")
struct StolenDatabaseTests {
    /// What is secret, in every form in which it could stand in a copy.
    private func secrets(of theft: Theft) async throws -> SecretSearch {
        let material = try await theft.world.store.read { try $0.keys.issuerKeys() }
        let dataKey = theft.world.store.dataKey
        var secrets = [
            SecretForms("client secret", text: theft.shop.secret.reveal()),
            SecretForms("callback secret", text: theft.shop.callbackSecret.reveal()),
            SecretForms("callbacks' password", text: Theft.password),
            SecretForms("unspent ticket", text: theft.ticket.ticket.reveal()),
            SecretForms("spent ticket", text: theft.device.invitation.ticket.reveal()),
            SecretForms("bootstrap token", text: theft.token.reveal()),
            SecretForms("telephone number", text: Theft.phone), SecretForms("mail address", text: Theft.address),
            SecretForms("push token", text: Theft.pushToken), SecretForms("browser", text: Theft.browser),
            SecretForms("token for a push service", text: Theft.providerToken),
            SecretForms("text message", verbatim: "\"template\":\"code\""),
            SecretForms("callback", verbatim: "challenge.approved\",\"timestamp"),
            SecretForms("notice", verbatim: "enrollment.created\",\"timestamp"),
            SecretForms("reply", verbatim: "\"number\":\"\(try #require(theft.asked.number).digits)\""),
            SecretForms("code for the way back", text: theft.returnCode.reveal()),
            SecretForms("master key", bytes: [UInt8](repeating: 7, count: 32)),
            SecretForms("primary key", bytes: Array(material.primary.rawRepresentation)),
        ]
        for key in material.kept { secrets.append(SecretForms("\(key.use.rawValue) key", bytes: key.secret.reveal())) }
        for purpose in ["seal", "keyed hashes"] {
            let key = dataKey.derived(for: purpose).withUnsafeBytes { Array($0) }
            secrets.append(SecretForms("key for \(purpose)", bytes: key))
        }
        return SecretSearch(secrets)
    }

    @Test(
        "Reading: secrets, addresses and messages on their way stand nowhere in a copy, in no form",
        arguments: StolenCopy.Way.allCases)
    func sealed(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let search = try await secrets(of: theft)
        #expect(search.names(in: theft.copy.bytes) == [])
        for value in theft.copy.everything { #expect(search.names(in: value) == []) }
        // The search finds what is there, and the copy has what could hold a secret.
        let told = "To \(Theft.phone): \(theft.token.reveal())"
        #expect(search.names(in: told) == ["telephone number", "bootstrap token"])
        let sealed = [
            ("outbox", "payload", 6), ("replies", "body", 4), ("enrollments", "push_token", 1),
            ("clients", "callback_secret", 1), ("clients", "callback_password", 1), ("provider_tokens", "sealed", 1),
            ("secrets", "sealed", 2),
        ]
        for (table, column, least) in sealed {
            #expect(theft.copy.blobs(table, column).count >= least, "\(table).\(column)")
        }
    }

    @Test("Each way out gives the thief every row of every table", arguments: StolenCopy.Way.allCases)
    func whole(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        var counts: [String: Int64] = [:]
        // What only PostgreSQL's nodes tell each other goes on.
        for table in try await theft.world.columns().keys where !["commits", "turns"].contains(table) {
            counts[table] = try await theft.world.count(table)
        }
        #expect(counts.count > 20 && counts.values.reduce(0, +) > 50)
        for (table, count) in counts { #expect(theft.copy.rows[table]?.count == Int(count), "\(table)") }
    }

    @Test(
        "Reading: what was asked and answered, by whom and from where stands in the open",
        arguments: StolenCopy.Way.allCases)
    func open(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let copy = theft.copy
        #expect(copy.texts("challenges", "message").contains(Theft.message))
        #expect(copy.texts("receipts", "text").contains { $0.contains(Theft.message) })
        #expect(copy.texts("challenges", "context") == ["203.0.113.7"])
        #expect(copy.texts("challenges", "client_state") == ["order 4711"])
        #expect(copy.texts("challenges", "callback_uri") == [Theft.callback])
        #expect(copy.texts("clients", "notice_uri") == [Theft.notice])
        #expect(copy.texts("clients", "callback_username") == ["acme"])
        #expect(copy.texts("user_links", "external_id") == ["customer-1"])
        #expect(copy.texts("enrollments", "device").contains { $0.contains("Test phone") })
        #expect(copy.blobs("enrollments", "fingerprint").contains(theft.device.certificate.fingerprint.bytes))
        // A deleted user's name is in no row; free pages and logs may still hold it.
        #expect(!copy.everything.contains { $0.contains(Array(Theft.formerName.utf8)) })
    }

    @Test(
        "Without the master key the copy opens by none, and by none of the thief's own put in its place",
        arguments: StolenCopy.Way.allCases)
    func withoutTheKey(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let (right, wrong) = (try World.masterKey(), try World.masterKey(8))
        await #expect(
            throws: StoreError.corruptRow("the database opens by the master key \(right.id), and this is \(wrong.id)")
        ) { _ = try await theft.copy.opened(by: wrong, like: theft.world) }
        // A wrap said to be of the thief's key, and a data key of the thief's making.
        let named = Array(theft.copy.blobs("secrets", "sealed").first { $0.starts(with: right.idBytes) } ?? [])
        #expect(named.count > 40)
        try await theft.copy.write(
            "UPDATE secrets SET sealed = $1 WHERE name = 'data key 1'",
            [.blob(wrong.idBytes + named.dropFirst(wrong.idBytes.count))])
        await #expect(throws: StoreError.corruptRow("sealed data key 1")) {
            _ = try await theft.copy.opened(by: wrong, like: theft.world)
        }
        let own = try await World()
        let wraps = try await own.sql("SELECT sealed FROM secrets WHERE name = 'data key 1'")
        try await theft.copy.write(
            "UPDATE secrets SET sealed = $1 WHERE name = 'data key 1'", [.blob(try #require(wraps.first).blob(0))])
        await #expect(
            throws: StoreError.corruptRow("issuer keys: is this the master key the database was made with?")
        ) { _ = try await theft.copy.opened(by: right, like: theft.world) }
    }

    @Test(
        "With the master key everything sealed is read: messages, addresses, tokens, secrets and kept replies",
        arguments: StolenCopy.Way.allCases)
    func withTheKey(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let opened = try await theft.opened()
        let now = theft.world.time.now
        var found: [String] = []
        for leased in try await opened.store.lease(limit: 100, now: now, until: now) {
            switch leased.message.content {
            case .callback(let uri, _, let body), .notice(let uri, _, let body):
                let kind = leased.message.content.posted?.purpose.rawValue ?? ""
                found.append("\(kind) \(uri) \(String(decoding: body, as: UTF8.self))")
            case .personal(let message, .email(let address), _): found.append("mail \(address) \(message.template)")
            case .personal(let message, .phone(let number), _):
                found.append("text \(number) \(message.values["code"]?.reveal() ?? "")")
            case .hook, .push, .withdrawal, .logout, .signIn, .signInCode, .backchannel: continue
            }
        }
        #expect(found.contains("text \(Theft.phone) \(theft.textCode.digits)"))
        #expect(found.contains("mail \(Theft.address) test"))
        #expect(found.contains { $0.hasPrefix("callbacks \(Theft.callback) {\"type\":\"challenge.approved\"") })
        #expect(found.contains { $0.hasPrefix("notices \(Theft.notice) {\"type\":\"enrollment.created\"") })
        let push = try await opened.store.read { try $0.pushes.find(of: theft.device.enrollment) }
        #expect(push?.registration.token.reveal() == Theft.pushToken)
        let receiver = CallbackReceiver(of: theft.shop.client.id, at: CallbackURI(stored: Theft.callback))
        let access = try await opened.store.callbackAccess(to: [receiver], at: now)[receiver]
        #expect(access?.basic?.password.reveal() == Theft.password)
        #expect(access?.secrets.first?.isSame(as: theft.shop.callbackSecret) == true)
        #expect(try await opened.store.providerToken("apns")?.text.reveal() == Theft.providerToken)
        let replies = try await theft.replies(opened)
        #expect(replies["client"]?["secret"]?.string == theft.shop.secret.reveal())
        #expect(replies["ticket"]?["ticket"]?.string == theft.ticket.ticket.reveal())
        #expect(replies["number"]?["number"]?.string == theft.asked.number?.digits)
        // A day later they are gone from what is copied then.
        theft.world.time.advance(IdempotencyKey.lifetime + 1)
        let later = theft.world.time.now
        _ = try await theft.world.store.commit { try $0.retention.sweep(now: later, limit: 1000) }
        #expect(try await StolenCopy(of: theft.world, by: way).rows["replies"] == [])
    }
}

extension Theft {
    /// The replies that are kept for repeats, by the names that their requests had.
    func replies(_ opened: StolenCopy.Opened) async throws -> [String: JSONValue] {
        var replies: [String: JSONValue] = [:]
        for name in copy.texts("replies", "key") {
            guard let key = IdempotencyKey(scope: "POST", key: name, requestDigest: []) else { continue }
            let reply = try await opened.store.read { try $0.replies.find(key) }
            replies[name] = try reply.map { try JSONValue(parsing: $0.form.stored) }
        }
        return replies
    }
}

extension MasterKey {
    /// What a wrap says of it.
    fileprivate var idBytes: [UInt8] { Hex.decode("\(id)") ?? [] }
}
