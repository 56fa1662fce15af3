import Countersign
import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import OpenPGP
import Synchronization

/// A server that lies: it holds keys of its own and says whatever a test wants it to.
final class StubServer: Transport {
    let issuer: Issuer
    let user: UserID
    let enrollment: EnrollmentID
    let challenge: ChallengeID
    let primary: SigningKeyPair
    let signing: SigningKeyPair
    let agreement = P256.KeyAgreement.PrivateKey()
    let encryption: DecryptionKeyPair
    let certificate: Certificate
    let push = P256.Signing.PrivateKey()
    private let state = Mutex(State())

    private struct State {
        var device: Certificate?
        var published: Certificate?
        var message = ""
        var pushKeyFetches = 0
    }

    init() async throws {
        let zeros = "00000000000000000000000000"
        guard let issuer = Issuer("https://login.example.com"), let user = UserID("usr_\(zeros)"),
            let enrollment = EnrollmentID("enr_\(zeros)"), let challenge = ChallengeID("chl_\(zeros)")
        else { throw CancellationError() }
        (self.issuer, self.user, self.enrollment, self.challenge) = (issuer, user, enrollment, challenge)
        let now = Self.now.unixSeconds
        primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
        signing = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
        encryption = DecryptionKeyPair(agreement, createdAt: now)
        certificate = try await Certificate.make(
            primary: primary, flags: .certify, userID: "Countersign <countersign@\(issuer.host)>",
            subkeys: [.signing(signing), .encryption(encryption.publicKey)], at: now)
    }

    static var now: Timestamp { Timestamp(milliseconds: SystemClock().millisecondsSince1970) }

    var invitation: String {
        EnrollmentInvitation(
            issuer: issuer, ticket: Secret("ctt_stub"), fingerprint: certificate.fingerprint, user: user,
            enrollment: enrollment
        ).text
    }

    /// The device's certificate, once it has enrolled.
    var device: Certificate? { state.withLock { $0.device } }
    var pushKeyFetches: Int { state.withLock { $0.pushKeyFetches } }

    /// From now on the challenge's message is this.
    func say(_ message: [UInt8]) { say(base64: Base64.encode(message)) }
    func say(base64 text: String) { state.withLock { $0.message = text } }

    /// From now on this is the issuer's certificate; the first one for nil.
    func publish(_ certificate: Certificate?) { state.withLock { $0.published = certificate } }

    /// An app with a vault.
    func app(_ vault: any Vault) async throws -> Authenticator {
        guard let url = URL(string: "\(issuer)") else { throw CancellationError() }
        return try await Authenticator(
            issuer: url, app: AppDescription(name: "Acme", version: "1", deviceName: "Phone"), vault: vault,
            transport: self)
    }

    /// An app enrolled with this server.
    func enrolled(_ vault: any Vault = MemoryVault()) async throws -> Authenticator {
        let authenticator = try await app(vault)
        _ = try await authenticator.enroll(with: .ticket(invitation))
        return authenticator
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        switch (request.method, request.url.path) {
        case ("GET", "/v1/server-certificate"):
            let published = state.withLock { $0.published } ?? certificate
            return Self.reply(Array(published.armored.utf8))
        case ("GET", "/v1/push-keys"):
            state.withLock { $0.pushKeyFetches += 1 }
            return Self.reply(JWKSet([JWK(push.publicKey)]).json.encoded)
        case ("POST", "/v1/enrollments"):
            let enrolling = try EnrollmentRequest(try JSONValue(parsing: request.body ?? []))
            let device = try Certificate(parsing: enrolling.certificate)
            state.withLock { $0.device = device }
            let reply = EnrollmentReply(
                enrollment: enrollment, user: user, serverCertificate: certificate, pushKeys: JWKSet([]),
                policies: EnrollmentPolicies(pin: .standard, devices: nil, authenticators: []), approval: nil)
            return Self.reply(reply.json.encoded)
        case ("GET", "/v1/enrollments/self/challenges"):
            let entry: JSONValue = [
                "id": .string("\(challenge)"), "expires_at": .string("\(Self.now.adding(seconds: 120))"),
                "message": .string(state.withLock { $0.message }),
            ]
            return Self.reply(JSONValue.members(["challenges": [entry], "cursor": "c"]).encoded)
        case ("GET", let path) where path.hasSuffix("/message"):
            return Self.reply(JSONValue.members(["message": .string(state.withLock { $0.message })]).encoded)
        default:
            let problem = ProblemDetails(.notFound).json(issuer: issuer, requestID: "req_0")
            return TransportResponse(status: 404, headers: [:], body: problem.encoded)
        }
    }

    private static func reply(_ body: [UInt8]) -> TransportResponse {
        TransportResponse(status: 200, headers: [:], body: body)
    }

    /// An honest challenge, as JSON.
    var honest: JSONObject {
        JSONObject([
            "v": 1, "kind": "challenge", "challenge": .string("\(challenge)"),
            "nonce": .string(String(repeating: "5f", count: 32)), "issuer": .string("\(issuer)"),
            "client": ["id": "cli_00000000000000000000000000", "name": "ACME Shop"], "user": .string("\(user)"),
            "enrollment": .string("\(enrollment)"), "type": "payment", "methods": ["confirm"],
            "message": "Pay EUR 1,250.00 to ACME GmbH?", "details": [["label": "Amount", "value": "EUR 1,250.00"]],
            "number_entry": 6, "asked_at": .string(Self.now.secondsDescription),
            "expires_at": .string("\(Self.now.adding(seconds: 120))"),
        ])
    }
}
