import CountersignWire
import Encodings
import Foundation
import JOSE
import Testing

/// The challenges and assertions of `docs/protocol/vectors` that belong to devices with JWKs, made by another
/// implementation.
///
/// Spec: docs/protocol/jwk-devices.md, *The challenge*.
@Suite("docs/protocol/vectors: what devices with JWKs get, and what they sign for a token")
struct JWTChallengeTests {
    private func file(_ name: String) throws -> JSONValue {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors")
        return try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: "\(name).json"))))
    }

    @Test("Each challenge says what the other implementation says, and is verified by the server's published key")
    func challenges() throws {
        let file = try file("jwt-challenge")
        let keys = try JWKSet(try #require(file["issuer_keys"]))
        let cases = try #require(file["cases"]?.array).filter { $0["valid"] == true }
        try #require(cases.count > 5)
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            let claims = try #require(vector["claims"]?.string)
            let challenge = try challenge(vector, of: file)
            #expect(try JSONValue(parsing: challenge.content) == JSONValue(parsing: Array(claims.utf8)), "\(name)")
            let verified = try JWS.verify(
                try #require(vector["token"]?.string), algorithms: [.rs256], type: .exactly(JWTAnswer.type),
                keys: keys)
            #expect(verified.payload == Array(claims.utf8), "\(name)")
        }
    }

    private func challenge(_ vector: JSONValue, of file: JSONValue) throws -> JWTChallenge {
        let message = try DisplayMessage(try #require(vector["message"]?.string))
        let client = try #require(file["client"]?.string.flatMap { ClientID($0) })
        let word = try #require(vector["verification"]?.string)
        let question = Question(
            challenge: try #require(file["challenge"]?.string.flatMap { ChallengeID($0) }),
            nonce: try #require(file["nonce"]?.string.flatMap { Nonce($0) }),
            issuer: try #require(file["issuer"]?.string.flatMap { Issuer($0) }), client: client,
            clientName: try ClientName(try #require(file["client_name"]?.string)), type: .confirm,
            context: try vector["location"]?.string.map { try DisplayLine($0) },
            askedAt: Timestamp(seconds: try #require(file["asked_at"]?.integer)), details: [], signingData: nil,
            message: message)
        return JWTChallenge(
            question: question, message: message,
            to: try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) }),
            of: try #require(file["user"]?.string.flatMap { UserID($0) }), at: client,
            verification: try #require(JWTChallenge.UserVerification(rawValue: word)),
            expiresAt: Timestamp(seconds: try #require(file["expires_at"]?.integer)))
    }

    @Test("RFC 7523 §3: each assertion is taken or refused as its vector says")
    func assertions() throws {
        let file = try file("maintenance-assertion")
        let issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
        let keys = try #require(file["keys"].flatMap { DeviceJWKs($0) })
        let user = try #require(file["user"]?.string.flatMap { UserID($0) })
        let enrollment = try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) })
        let cases = try #require(file["cases"]?.array)
        try #require(cases.count > 20)
        for vector in cases {
            let assertion = MaintenanceAssertion(
                try #require(vector["assertion"]?.string), by: keys, at: issuer,
                now: Timestamp(seconds: try #require(vector["now"]?.integer)), tolerance: Seconds(60))
            // That it is of this user's enrollment, the server compares with its row.
            let isGood = assertion.map { $0.user == user && $0.enrollment == enrollment } ?? false
            #expect(isGood == (vector["valid"] == true), "\(vector["name"]?.string ?? "")")
        }
    }
}
