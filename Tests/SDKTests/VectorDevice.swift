import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import OpenPGP
import Synchronization
import Testing

@testable import Countersign

/// The device of a file of `docs/protocol/vectors` at a time, and the server that it asks.
struct VectorDevice {
    let authenticator: Authenticator
    let stored: StoredEnrollment
    let server: VectorServer

    /// A device whose server gives one reply to the requests to one path.
    init(
        of file: JSONValue, at now: Timestamp, asking path: String = "",
        reply: TransportResponse = TransportResponse(status: 404, headers: [:], body: [])
    ) async throws {
        func key(_ name: String) throws -> [UInt8] {
            try #require(file["device_private_keys"]?[name]?.string.flatMap { Hex.decode($0) })
        }
        let armored = try #require(file["server_certificate"]?.string)
        let issuer = try #require(file["issuer"]?.string)
        server = VectorServer(certificate: armored, path: path, reply: reply)
        stored = StoredEnrollment(
            id: try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) }),
            user: try #require(file["user"]?.string.flatMap { UserID($0) }),
            issuer: try #require(Issuer(issuer)),
            createdAt: UnixSeconds(try #require(file["device_created"]?.integer)),
            certificate: try Certificate(armored: try #require(file["device_certificate"]?.string)),
            serverCertificate: try Certificate(armored: armored), serverCertificateAt: now, pushKeys: JWKSet([]))
        authenticator = try await Authenticator(
            issuer: try #require(URL(string: issuer)),
            app: AppDescription(name: "Acme", version: "1", deviceName: "Phone"),
            vault: VectorVault(
                authentication: try P256.Signing.PrivateKey(rawRepresentation: try key("authentication")),
                encryption: try P256.KeyAgreement.PrivateKey(rawRepresentation: try key("encryption"))),
            transport: server, clock: VectorClock(millisecondsSince1970: now.milliseconds))
        await authenticator.roster.add(stored)
    }
}

/// A vault that holds keys of the vectors for one enrollment, and keeps nothing.
private struct VectorVault: Vault {
    let authentication: P256.Signing.PrivateKey
    let encryption: P256.KeyAgreement.PrivateKey

    var storage: KeyStorage { .software }

    func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any SigningKey {
        P256.Signing.PrivateKey()
    }

    func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any AgreementKey {
        P256.KeyAgreement.PrivateKey()
    }

    func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any SigningKey)? {
        guard role == .authentication else { return nil }
        return authentication
    }

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

private struct VectorClock: DeviceClock {
    let millisecondsSince1970: Int64
}

/// A server that has its certificate, and one reply to the requests to one path; it knows no challenge besides.
final class VectorServer: Transport {
    private let certificate: String
    private let path: String
    private let reply: TransportResponse
    private let heard = Mutex<[String]>([])

    /// The paths of the requests, in order.
    var paths: [String] { heard.withLock { $0 } }

    init(certificate: String, path: String, reply: TransportResponse) {
        self.certificate = certificate
        self.path = path
        self.reply = reply
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        heard.withLock { $0.append(request.url.path) }
        switch request.url.path {
        case path: return reply
        case "/v1/server-certificate":
            return TransportResponse(status: 200, headers: [:], body: Array(certificate.utf8))
        default:
            let problem = #"{"title":"There is no such challenge","status":404,"code":"challenge_not_found"}"#
            return TransportResponse(status: 404, headers: [:], body: Array(problem.utf8))
        }
    }
}
