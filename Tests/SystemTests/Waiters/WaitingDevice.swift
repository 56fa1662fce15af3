import CountersignWire
import Crypto
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import TestSupport

/// An enrolled device that signs polls.
struct WaitingDevice: Sendable {
    /// The ticket is malformed.
    struct NoInvitation: Error {
        let text: String
    }

    private static let poll = "/v1/enrollments/self/challenges?wait=60"

    private let issuer: Issuer
    private let enrollment: EnrollmentID
    private let key: P256.Signing.PrivateKey

    /// Creates a device and enrolls it with a ticket.
    init(ticket: String, caller: PersistentCaller) async throws {
        guard let invitation = EnrollmentInvitation(ticket) else {
            throw NoInvitation(text: ticket)
        }
        let now = UnixSeconds(clamping: Int64(Date().timeIntervalSince1970))
        let holder = try await Holder(
            userID: DeviceKeys.userID(
                of: invitation.user, enrollment: invitation.enrollment, issuer: invitation.issuer), at: now)
        issuer = invitation.issuer
        enrollment = invitation.enrollment
        key = holder.authenticationKey
        let body = EnrollmentRequest(
            ticket: invitation.ticket, certificate: holder.certificate.encoded,
            device: DeviceDescription(name: try DisplayLine("Test phone"), storage: .software),
            versions: [ChallengeBody.version]
        ).json.encoded
        let signed = try await fields("POST", "/v1/enrollments", body, by: "\(holder.certificate.fingerprint)")
        _ = try await caller.send(.POST, "/v1/enrollments", body, fields: signed).success()
    }

    /// The bytes of a signed poll for challenges.
    func pollRequest() async throws -> [UInt8] {
        let signed = try await fields("GET", Self.poll, nil, by: "\(enrollment)")
        let lines = ["GET \(Self.poll) HTTP/1.1", "Host: 127.0.0.1"] + signed.map { "\($0): \($1)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func fields(
        _ method: String, _ path: String, _ body: [UInt8]?, by name: String
    ) async throws -> [(String, String)] {
        let digest = body.map { ContentDigest.field(for: $0) }
        let request = SignedRequest(
            method: method, targetURI: issuer.uri(path), contentDigest: digest, authorization: nil)
        let parameters = SignatureParameters(
            created: Int64(Date().timeIntervalSince1970), nonce: UUID().uuidString, keyID: name)
        let (input, signature) = try await parameters.sign(request, with: key)
        return [("Signature-Input", input), ("Signature", signature)] + (digest.map { [("Content-Digest", $0)] } ?? [])
    }
}
