import CountersignStorage
import CountersignWire
import Crypto
import CryptoExtras
import Encodings
import Foundation
import OpenPGP
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import Countersign

/// What somebody has who copied a device's vault, or a server's data, or both, and knows how keys are derived.
///
/// The program tries every PIN of a list and looks whether anything it has tells the right one from the others.
@Suite("A copied device alone, or a copied database alone, cannot test a guess", .timeLimit(.minutes(15)))
struct PINGuessTests {
    private static let list = ["12345", "90210", SDKScene.pin, "71538", "24680"]

    /// Everything that follows from a guess, as it could stand somewhere.
    private static func forms(_ digits: String, _ stored: StoredPIN, _ scene: SDKScene) async throws -> SecretForms? {
        guard let key = try await scene.vault.agreementKey(stored.role, of: scene.enrollment.id) else { return nil }
        let pair = try await stored.signingKey(of: try PIN(digits), with: key, primary: scene.enrollment.fingerprint)
        guard case .ecdsa(let publicKey) = pair.publicKey.material else { return nil }
        let point = Array(publicKey.rawRepresentation)
        let stretched = try KDF.Scrypt.deriveKey(
            from: Array(digits.utf8), salt: stored.salt, outputByteCount: 32, rounds: 1 << stored.cost, blockSize: 8,
            parallelism: 1)
        let hashes = [
            Array(SHA256.hash(data: Array(digits.utf8))), Array(SHA256.hash(data: stored.salt + Array(digits.utf8))),
            Array(HMAC<SHA256>.authenticationCode(for: Array(digits.utf8), using: SymmetricKey(data: stored.salt))),
            stretched.withUnsafeBytes { Array($0) }, Array(point.prefix(32)), Array(point.suffix(32)),
            pair.publicKey.fingerprint.bytes,
        ]
        return SecretForms(digits, allOf: hashes.map { SecretForms(digits, bytes: $0) })
    }

    /// All that stands in a vault, opened.
    private static func contents(of vault: any Vault, _ scene: SDKScene) async throws -> [UInt8] {
        var all: [UInt8] = []
        for record in try await vault.records(of: scene.enrollment.id) {
            all += try #require(try await vault.record(record, of: scene.enrollment.id))
        }
        return all
    }

    @Test("Neither tells a PIN; both together do, so that the program is known to work")
    func guesses() async throws {
        // PostgreSQL's dumps spell bytes in their own way; what is in them is the same.
        try await TestDatabases.$isSQLite.withValue(true) { try await guessesOnSQLite() }
    }

    private func guessesOnSQLite() async throws {
        let folder = try TemporaryFolder()
        try await SDKScene.with(vault: try FileVault(at: folder.url)) { scene in
            try await scene.setPIN("36921")
            try await scene.enrollment.changePIN(from: try PIN("36921"), to: try PIN(SDKScene.pin))
            let (_, answered) = try await scene.openTyped()
            #expect(await scene.approve(answered) == "")
            #expect(await scene.approve(try await scene.openTyped().question, SDKScene.wrongPIN) == "pin_incorrect")
            // An answer and a change that nobody has got, as they lie there when a phone is taken.
            let (_, waiting) = try await scene.openTyped()
            scene.transport.happen { request, send in
                if request.method == "POST" { throw FaultyTransport.Lost() }
                return try await send(request)
            }
            let answer = Task { await scene.approve(waiting) }
            while try await scene.vault.records(of: scene.enrollment.id).allSatisfy({ !$0.hasPrefix("answer-") }) {
                await Task.yield()
            }
            answer.cancel()
            _ = await answer.value
            let change = await code {
                try await scene.enrollment.changePIN(from: try PIN(SDKScene.pin), to: try PIN("90210573"))
            }
            #expect(change == "network")
            let copied = try FileVault(at: folder.url)
            let records = try await copied.records(of: scene.enrollment.id)
            #expect(records.contains("pin") && records.contains("method-change") && records.count == 5, "\(records)")
            let record = try #require(try await copied.record(StoredPIN.record, of: scene.enrollment.id))
            let stored = try #require(StoredPIN(try JSONValue(parsing: record)))
            var guesses: [SecretForms] = []
            for digits in Self.list { guesses.append(try #require(try await Self.forms(digits, stored, scene))) }
            let search = SecretSearch(guesses)
            #expect(search.names(in: try await Self.contents(of: copied, scene)) == [], "the device alone")
            // What the device's half is made of is in no database: without it there is nothing to derive.
            let key = try #require(try await copied.agreementKey(stored.role, of: scene.enrollment.id))
            let peer = try P256.KeyAgreement.PublicKey(x963Representation: stored.point)
            let secret = try await key.sharedSecret(with: peer).withUnsafeBytes { Array($0) }
            let halves = SecretSearch([
                SecretForms("secret", bytes: secret), SecretForms("salt", bytes: stored.salt),
                SecretForms("point", bytes: Array(stored.point.dropFirst().prefix(32))),
                SecretForms("key", bytes: Array(key.publicKey.rawRepresentation.prefix(32))),
            ])
            let files = try TestDatabases.contents(for: scene.server.dataFolder)
            let master = try Data(contentsOf: URL(filePath: scene.server.dataFolder).appending(path: "master.key"))
            // With what the master key opens: the issuer's keys and a client's secret at least.
            let text = String(decoding: master, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            let masterKey = try #require(Base64.decode(text).flatMap { MasterKey(bytes: Secret($0)) })
            let clock = scene.server.clock
            let unsealed = try await StolenCopy(
                filesIn: scene.server.dataFolder, hub: ChangeHub(time: clock)
            ).unsealed(by: masterKey, of: scene.server.issuer, at: clock.now)
            #expect(unsealed.count > 4 * 32)
            let server = Array(files.values.reduce(master, +)) + unsealed
            #expect(halves.names(in: server) == [], "the database alone")
            // Both together: one guess is right, and the program finds it.
            #expect(search.names(in: server) == [SDKScene.pin])
        }
    }
}
