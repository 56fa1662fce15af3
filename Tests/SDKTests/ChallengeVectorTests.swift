import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import OpenPGP
import Testing

@testable import Countersign

/// The challenges of `docs/protocol/vectors/challenge.json`, which another implementation has made.
@Suite("docs/protocol/vectors: sealed challenges, opened by the SDK")
struct ChallengeVectorTests {
    /// A vault that holds the key of the vectors for one enrollment, and keeps nothing.
    private struct VectorVault: Vault {
        let encryption: P256.KeyAgreement.PrivateKey

        var storage: KeyStorage { .software }

        func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any SigningKey {
            P256.Signing.PrivateKey()
        }

        func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any AgreementKey {
            P256.KeyAgreement.PrivateKey()
        }

        func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any SigningKey)? { nil }

        func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any AgreementKey)? {
            guard role == .encryption else { return nil }
            return encryption
        }

        func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws {}

        func enrollments(with record: String) async throws -> [EnrollmentID] { [] }

        func records(of enrollment: EnrollmentID) async throws -> [String] { [] }

        func record(_ name: String, of enrollment: EnrollmentID) async throws -> [UInt8]? { nil }

        func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) async throws {}

        func remove(_ record: String, of enrollment: EnrollmentID) async throws {}

        func removeAll(of enrollment: EnrollmentID) async throws {}

        func appRecord(_ name: String) async throws -> [UInt8]? { nil }

        func writeAppRecord(_ record: [UInt8], as name: String) async throws {}

        func removeAppRecord(_ name: String) async throws {}
    }

    /// A server that has nothing but its certificate.
    private struct CertificateTransport: Transport {
        let armored: String

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(status: 200, headers: [:], body: Array(armored.utf8))
        }
    }

    private struct FixedClock: DeviceClock {
        let millisecondsSince1970: Int64
    }

    private static let file: JSONValue? = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/challenge.json")
        guard let bytes = try? Data(contentsOf: file) else { return nil }
        return try? JSONValue(parsing: Array(bytes))
    }()

    private static var count: Int { file?["cases"]?.array?.count ?? 0 }

    /// The device of the vectors, at the time of a case.
    private static func device(
        of file: JSONValue, at now: Timestamp
    ) async throws -> (Authenticator, StoredEnrollment) {
        let armored = try #require(file["server_certificate"]?.string)
        let issuer = try #require(file["issuer"]?.string)
        let key = try #require(file["device_private_keys"]?["encryption"]?.string.flatMap { Hex.decode($0) })
        let stored = StoredEnrollment(
            id: try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) }),
            user: try #require(file["user"]?.string.flatMap { UserID($0) }),
            issuer: try #require(Issuer(issuer)),
            createdAt: UnixSeconds(try #require(file["device_created"]?.integer)),
            certificate: try Certificate(armored: try #require(file["device_certificate"]?.string)),
            serverCertificate: try Certificate(armored: armored), serverCertificateAt: now, pushKeys: JWKSet([]))
        let authenticator = try await Authenticator(
            issuer: try #require(URL(string: issuer)),
            app: AppDescription(name: "Acme", version: "1", deviceName: "Phone"),
            vault: VectorVault(encryption: try P256.KeyAgreement.PrivateKey(rawRepresentation: key)),
            transport: CertificateTransport(armored: armored),
            clock: FixedClock(millisecondsSince1970: now.milliseconds))
        await authenticator.roster.add(stored)
        return (authenticator, stored)
    }

    @Test("There are vectors")
    func some() {
        #expect(Self.count > 5)
    }

    @Test("A challenge is opened as it was sealed, or refused for the reason of the vector", arguments: 0..<count)
    func challenge(_ index: Int) async throws {
        let file = try #require(Self.file)
        let vector = try #require(file["cases"]?[index])
        let name = try #require(vector["name"]?.string)
        let id = try #require(vector["challenge"]?.string.flatMap { ChallengeID($0) })
        let message = try #require(vector["message"]?.string.flatMap { Hex.decode($0) })
        let now = Timestamp(seconds: try #require(vector["now"]?.integer))
        let (authenticator, stored) = try await Self.device(of: file, at: now)
        do throws(CountersignError) {
            let body = try await authenticator.unseal(message, naming: id, for: stored)
            _ = try await authenticator.opened(body)
            #expect(vector["valid"] == true, "\(name)")
            let expected = try? JSONValue(parsing: Array((vector["body"]?.string ?? "").utf8))
            #expect(body.question.message.text == expected?["message"]?.string, "\(name)")
            #expect("\(body.question.nonce)" == expected?["nonce"]?.string, "\(name)")
            #expect(body.question.details.count == expected?["details"]?.array?.count, "\(name)")
            #expect(body.question.signingData == expected?["signing_data"]?.string, "\(name)")
            let methods = expected?["methods"]?.array?.compactMap { $0.string.flatMap(AnswerMethod.init(rawValue:)) }
            #expect(body.methods == methods, "\(name)")
        } catch {
            #expect(vector["valid"] == false, "\(name): \(error)")
            #expect(Self.isExpected(error, of: vector), "\(name): \(error)")
        }
    }

    /// Whether the SDK refuses a challenge where and why the vector says.
    private static func isExpected(_ error: CountersignError, of vector: JSONValue) -> Bool {
        let (stage, reason) = (vector["stage"]?.string ?? "", vector["error"]?.string ?? "")
        switch error {
        case .serverChanged: return (stage, reason) == ("message", "unknownSigner")
        case .challengeExpired: return (stage, reason) == ("purpose", "expired")
        case .notHandleable(let words):
            switch (stage, reason) {
            // A packet's type is a number in the vectors and a type of ours in the words.
            case ("message", "unexpectedPacket(2)"):
                return words.hasPrefix("OpenPGP: unexpectedPacket(") && words.contains("2")
            case ("message", _): return words == "OpenPGP: \(reason)"
            case ("body", "signatureType"), ("body", "json"): return words == "it is not JSON"
            case ("body", _): return words.contains("\"\(reason)\"")
            case ("purpose", "methods"): return words == "it is to be answered by unknown methods"
            case ("purpose", "challenge"), ("purpose", "issuer"), ("purpose", "user"), ("purpose", "enrollment"):
                return words == "it is meant for somebody else"
            default: return false
            }
        default: return false
        }
    }
}
