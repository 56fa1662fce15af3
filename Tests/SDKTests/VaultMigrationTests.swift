@testable import Countersign
import CountersignWire
import Encodings
import Foundation
import OpenPGP
import TestSupport
import Testing

/// Vaults as released programs left them, byte for byte: `Vectors/vaults` holds one of each form of what is stored.
///
/// Form 1 was made by `countersign device enroll`, `device pin set` and `device biometric register` at commit fe7103f.
@Suite("A stored vault of each past form is opened")
struct VaultMigrationTests {
    private struct Stored {
        let name: String
        let enrollment: String
        let fingerprint: String
        let pin: String
        /// The PIN's key as the server had it in the device's certificate.
        let pinFingerprint: String
        let biometricFingerprint: String
    }

    private static let all = [
        Stored(
            name: "1", enrollment: "enr_01m84fmw9sw4pknzj4apnmqhnr",
            fingerprint: "FACC84AD301BD920002F818C9AEFF51A2B3734DB", pin: "835174",
            pinFingerprint: "8A5A2DF7B8122AAB4384205BF337683925D0DC7C",
            biometricFingerprint: "0B006CF9399DDAA4C201F7A71AFD5C25D5DEC019")
    ]

    /// Fails the test when it is used.
    private struct NoTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            Issue.record("opening a vault sent \(request.method) \(request.url)")
            throw CancellationError()
        }
    }

    @Test("Keys, records, PIN and biometric of a stored vault are what they were")
    func opened() async throws {
        let vectors = try #require(Bundle.module.url(forResource: "Vectors/vaults", withExtension: nil))
        #expect(try FileManager.default.contentsOfDirectory(atPath: vectors.path).count == Self.all.count)
        for stored in Self.all {
            let folder = try TemporaryFolder()
            let place = folder.url.appending(path: "vault")
            try FileManager.default.copyItem(at: vectors.appending(path: stored.name), to: place)
            let vault = try FileVault(at: place)
            let app = try await Authenticator(
                issuer: #require(URL(string: "http://127.0.0.1:8080")),
                app: AppDescription(name: "App", version: "1", deviceName: "Phone"), vault: vault,
                transport: NoTransport())
            let enrollments = await app.enrollments
            #expect(enrollments.map { "\($0.id)" } == [stored.enrollment])
            let enrollment = try #require(enrollments.first)
            #expect("\(enrollment.fingerprint)" == stored.fingerprint)
            #expect(enrollment.stored.certificate.keys.contains { "\($0.fingerprint)" == stored.biometricFingerprint })
            let primary = try #require(try await vault.signingKey(.primary, of: enrollment.id))
            #expect(
                SigningKeyPair(primary, createdAt: enrollment.stored.createdAt).publicKey.fingerprint
                    == enrollment.fingerprint)
            let record = try #require(try await vault.record(StoredPIN.record, of: enrollment.id))
            let pin = try #require(StoredPIN(try JSONValue(parsing: record)))
            let agreement = try #require(try await vault.agreementKey(pin.role, of: enrollment.id))
            let key = try await pin.signingKey(
                of: try PIN(stored.pin), with: agreement, primary: enrollment.fingerprint)
            #expect("\(key.publicKey.fingerprint)" == stored.pinFingerprint)
        }
    }
}
