import CountersignStorage
import CountersignWire
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// A thief who changes the copy and has it put back: what a server believes stands in its database.
extension StolenDatabaseTests {
    /// The server of the deployment, on the database that was put back.
    private func server(on theft: Theft) async throws -> Ports { try await theft.opened().ports }

    /// Writes a device with keys of the thief's own beside the user's, in the form of the user's row.
    private func plant(in theft: Theft) async throws -> TestDevice {
        let thief = try await TestDevice(
            EnrollmentInvitation(
                issuer: theft.world.ports.issuer, ticket: Secret(""), fingerprint: theft.ticket.fingerprint,
                user: theft.user, enrollment: theft.world.newID()), in: theft.world)
        let userID = DeviceKeys.userID(of: theft.user, enrollment: thief.enrollment, issuer: theft.world.ports.issuer)
        let (certificate, keys) = try DeviceKeys.enrolling(
            thief.certificate.encoded, userID: userID, now: theft.world.time.now.unixSeconds)
        var row = try #require(
            theft.copy.rows["enrollments"]?.first { $0["id"] == .text("\(theft.device.enrollment)") })
        row["id"] = .text("\(thief.enrollment)")
        row["fingerprint"] = .blob(certificate.fingerprint.bytes)
        row["primary_key"] = .blob(keys.primary.publicKey.body)
        row["authentication_key"] = .blob(keys.authentication.publicKey.body)
        row["encryption_key"] = .blob(keys.encryption.publicKey.body)
        row["certificate"] = .blob(certificate.encoded)
        let columns = row.keys.sorted().filter { row[$0] != .null }
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        try await theft.copy.write(
            "INSERT INTO enrollments (\(columns.joined(separator: ", "))) VALUES (\(places))",
            columns.compactMap { row[$0] })
        return thief
    }

    @Test(
        "Writing: who has a database put back enrolls a device by it, without the master key; no receipt of another's",
        arguments: StolenCopy.Way.allCases)
    func plantedDevice(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let thief = try await plant(in: theft)
        let ports = try await server(on: theft)
        let request = try theft.world.request(for: theft.user, type: "sign-in")
        let result = try await AskChallenge.ask(
            request, by: theft.shop.client.credential, idempotency: nil, ports: ports)
        guard case .done(.asked(let asked)) = result else { throw World.Broken("challenge") }
        #expect(Set(asked.enrollments).isSuperset(of: [thief.enrollment, theft.device.enrollment]))
        func call() async throws -> DeviceCall {
            try await VerifyDevice.verify(try await thief.request(), ports: ports).get()
        }
        let opened = try await OpenChallenge.open(asked.challenge.id, for: try await call(), ports: ports)
        guard case .message = opened else {
            Issue.record("the planted device is not asked")
            return
        }
        let challenge = try #require(try await ports.store.read { try $0.challenges.find(asked.challenge.id) })
        let message = try await thief.receipt(of: challenge, .approved(.confirm, number: nil))
        let outcome = try await AnswerChallenge.answer(
            AnswerRequest(message: message), to: asked.challenge.id, by: try await call(), ports: ports)
        guard case .decided(let reply) = outcome else {
            Issue.record("the planted device's answer is not taken")
            return
        }
        #expect(reply.status.state == "approved")
        // What is kept of it says whose it is.
        let stored = try await ports.store.read { try $0.receipts.find(of: asked.challenge.id) }
        guard case .receipt(let kept, let encoded)? = stored?.evidence else { throw World.Broken("receipt") }
        let now = theft.world.time.now.unixSeconds
        #expect(throws: ReceiptRefusal.wrongDevice) {
            _ = try VerifiedReceipt(message: kept.encoded, certificate: theft.device.certificate, now: now)
        }
        let certificate = try Certificate(parsing: encoded)
        let receipt = try VerifiedReceipt(message: kept.encoded, certificate: certificate, now: now).receipt
        #expect(receipt.device == thief.certificate.fingerprint)
        // Nor does the audit know of its enrollment, unless the thief has written that as well.
        let audit = try await ports.store.read { try $0.audit.list(after: 0, limit: 10_000).map(\.event) }
        #expect(audit.contains { $0.kind == .enrollmentCreated && $0.enrollment == theft.device.enrollment })
        #expect(!audit.contains { $0.kind == .enrollmentCreated && $0.enrollment == thief.enrollment })
    }

    @Test(
        "Writing: so does a client's secret get in, and no sealed value of the thief's making",
        arguments: StolenCopy.Way.allCases)
    func plantedSecret(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let own = Secret("a secret of the thief's own choice, of any length")
        let shop = theft.shop.client.id
        try await theft.copy.write(
            "UPDATE clients SET secret_hash = $1 WHERE id = $2",
            [.blob(SecretHash(of: own).bytes), .text("\(shop)")])
        // Something that was sealed for another place, and something sealed by a key of the thief's.
        let foreign = try #require(theft.copy.blobs("enrollments", "push_token").first)
        try await theft.copy.write(
            "UPDATE clients SET callback_secret = $1 WHERE id = $2", [.blob(foreign), .text("\(shop)")])
        let opened = try await theft.opened()
        #expect(
            try await AuthenticateClient.authenticate("\(shop)", secret: own, ports: opened.ports).caller?.client.id
                == shop)
        let receiver = CallbackReceiver(of: shop, at: CallbackURI(stored: Theft.callback))
        await #expect(throws: StoreError.corruptRow("sealed callback secret \(shop)")) {
            _ = try await opened.store.callbackAccess(to: [receiver], at: theft.world.time.now)
        }
    }
}
