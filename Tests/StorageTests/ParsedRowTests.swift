import CountersignCore
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignStorage

/// What is parsed is kept; what is served is what stands in the database now.
@Suite("A row that changed is never served as it was")
struct ParsedRowTests {
    @Test("A device's removal, description and keys", arguments: Engine.allCases)
    func device(_ engine: Engine) async throws {
        let world = try await World(engine)
        let client = try await world.makeClient().client
        let user = try await world.makeUser(of: client)
        let device = try await world.makeDevice(of: user, by: client)
        let other = try await world.makeDevice(of: try await world.makeUser(of: client), by: client)
        let id = device.enrollment
        func kept() async throws -> Enrollment? { try await world.store.read { try $0.enrollments.find(id) } }
        let first = try #require(try await kept())
        #expect(first.keys?.authentication.fingerprint == device.certificate.subkeys[0].fingerprint)
        #expect(try await kept()?.device == first.device)

        try await world.sql(
            "UPDATE enrollments SET authentication_key = (SELECT authentication_key FROM enrollments WHERE id = $1)"
                + " WHERE id = $2", [.text("\(other.enrollment)"), .text("\(id)")])
        #expect(try await kept()?.keys?.authentication.fingerprint == other.certificate.subkeys[0].fingerprint)
        #expect(try await kept()?.fingerprint == first.fingerprint)

        // Equal to `==` on String, and not the same bytes: the second is not in the form that may be shown.
        for (name, isAccepted) in [("caf\u{E9}", true), ("cafe\u{301}", false)] {
            try await world.sql(
                "UPDATE enrollments SET device = $1 WHERE id = $2",
                [.text(#"{"name":"\#(name)","storage":"software"}"#), .text("\(id)")])
            if isAccepted {
                #expect(try await kept()?.device.name.text == name)
            } else {
                await #expect(throws: StoreError.corruptRow("column 10")) { try await kept() }
            }
        }

        try await world.sql("UPDATE enrollments SET authentication_key = x'04' WHERE id = $1", [.text("\(id)")])
        await #expect(throws: StoreError.corruptRow("enrollment key")) { try await kept() }
        try await world.sql("DELETE FROM enrollments WHERE id = $1", [.text("\(id)")])
        #expect(try await kept() == nil)
    }

    @Test("The JWKs of a device, and the time from which its biometric counts", arguments: Engine.allCases)
    func jwks(_ engine: Engine) async throws {
        let world = try await World(engine)
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: client)
        let device = try await world.makeJWKDevice(of: user, by: client, verifies: true)
        let other = try await world.makeJWKDevice(of: user, by: client, .ed25519)
        let id = device.enrollment
        func kept() async throws -> Enrollment? { try await world.store.read { try $0.enrollments.find(id) } }
        let (own, others) = (try device.keys, try other.keys)
        #expect(try await kept()?.jwks?.json == own.json)
        try await world.sql("UPDATE enrollments SET biometric_counts_from = NULL WHERE id = $1", [.text("\(id)")])
        #expect(try await kept()?.jwks?.json == own.withoutUserVerification.json)
        #expect(try await kept()?.biometric == nil)
        try await world.sql(
            "UPDATE enrollments SET credential = $1 WHERE id = $2", [.text(others.json.text), .text("\(id)")])
        #expect(try await kept()?.jwks?.json == others.json)
        for damage in ["{", "{}", #"{"proofOfPossession":{"kty":"oct","k":"AA","kid":"a"}}"#] {
            try await world.sql(
                "UPDATE enrollments SET credential = $1 WHERE id = $2", [.text(damage), .text("\(id)")])
            await #expect(throws: StoreError.corruptRow("enrollment JWKs")) { try await kept() }
        }
    }

    @Test("A device that was removed is inactive at the next look", arguments: Engine.allCases)
    func removal(_ engine: Engine) async throws {
        let world = try await World(engine)
        let client = try await world.makeClient().client
        let user = try await world.makeUser(of: client)
        let id = try await world.makeDevice(of: user, by: client).enrollment
        #expect(try await world.store.read { try $0.enrollments.find(id)?.state } == .active)
        let now = world.time.now
        #expect(try await world.store.commit { try $0.enrollments.remove(id, reason: .device, at: now) })
        #expect(try await world.store.read { try $0.enrollments.find(id)?.state } == .removed(.device, at: now))
        #expect(try await world.store.read { try $0.enrollments.active(of: user).isEmpty })
    }

    @Test("A client's rights and secret, and a type's settings", arguments: Engine.allCases)
    func settings(_ engine: Engine) async throws {
        let world = try await World(engine)
        let client = try await world.makeClient().client
        func kept() async throws -> Client? { try await world.store.read { try $0.clients.find(client.id) } }
        #expect(try await kept()?.rights == client.rights)
        let arguments: [SQLValue] = [.text("\(client.id)"), .blob(SecretHash(of: Secret("new")).bytes)]
        try await world.sql("UPDATE clients SET rights = 'users', secret_hash = $2 WHERE id = $1", arguments)
        #expect(try await kept()?.rights == [.users])
        #expect(try await kept()?.secretHash == SecretHash(of: Secret("new")))

        let type = try await world.makeType(lifetime: 60)
        #expect(try await world.store.read { try $0.types.find(type.name)?.lifetime } == 60)
        _ = try await world.makeType(lifetime: 30)
        #expect(try await world.store.read { try $0.types.find(type.name)?.lifetime } == 30)
    }

    @Test("More rows than are kept are all read right, and no more are kept")
    func many() throws {
        let parsed = Parsed<Int, String>(limit: 3)
        var made = 0
        func read(_ key: Int, _ column: SQLValue) throws -> String {
            try parsed.value(key, of: [column]) {
                made += 1
                return "\(key) \(column)"
            }
        }
        for _ in 1...3 {
            for key in 0..<10 {
                #expect(try read(key, .integer(Int64(key))) == "\(key) integer(\(key))")
                #expect(parsed.count <= 3)
            }
        }
        made = 0
        #expect(try read(9, .integer(9)) == "9 integer(9)")
        #expect(made == 0, "the newest is found")
        for column in [SQLValue.null, .integer(8), .text("9"), .blob([9]), .text("\u{E9}"), .text("e\u{301}")] {
            #expect(try read(9, column) == "9 \(column)")
        }
        #expect(made == 6, "another column is another row")
    }
}
