package import Crypto
package import Encodings
import Foundation
import JOSE
package import OpenPGP

/// What a device signs to sign its user in at one client: a JWT bearer assertion, good for a minute.
///
/// Spec: docs/protocol/signing-in.md, *The assertion*; RFC 7523 §3.
package struct DeviceAssertion: Equatable, Sendable {
    /// The grant type under which it is sent.
    ///
    /// Spec: RFC 7523 §2.1.
    package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// How long it may be good, in seconds.
    package static let lifetime: Int64 = 60
    /// The kind of JWT that it is, so that nothing else which the key signs passes for one.
    ///
    /// Spec: RFC 8725 §3.11.
    private static let type = "countersign-assertion+jwt"
    private static let nameLengths = 16...64

    /// The enrollment whose authentication key signs.
    package let enrollment: EnrollmentID
    /// Its user.
    package let user: UserID
    /// The only server that it is for.
    package let issuer: Issuer
    /// The only client that it is for.
    package let client: String
    /// The challenge that the user has approved for this sign-in by a PIN or a biometric; nil for none.
    package let challenge: ChallengeID?
    /// Its own name, which is taken once: 16 to 64 visible characters of ASCII.
    package let name: String
    /// When it was signed, in seconds since 1970.
    package let issuedAt: Int64
    /// When it is over, in seconds since 1970.
    package let expiresAt: Int64

    /// An assertion that is signed at a time.
    package init(
        enrollment: EnrollmentID, user: UserID, issuer: Issuer, client: String, challenge: ChallengeID? = nil,
        named name: String, at now: Timestamp
    ) {
        self.enrollment = enrollment
        self.user = user
        self.issuer = issuer
        self.client = client
        self.challenge = challenge
        self.name = name
        issuedAt = now.seconds
        expiresAt = now.seconds + Self.lifetime
    }

    /// The assertion as it is sent.
    ///
    /// - Parameter key: the authentication key of the enrollment.
    /// - Throws: the errors of the key.
    package func signed(by key: any SigningKey) async throws -> String {
        let claims = JSONValue.members([
            "iss": .string("\(enrollment)"), "sub": .string("\(user)"), "aud": .string("\(issuer)"),
            "client_id": .string(client), "challenge": challenge.map { .string("\($0)") }, "jti": .string(name),
            "iat": .integer(issuedAt), "exp": .integer(expiresAt),
        ])
        return try await JWS.sign(claims.encoded, type: Self.type, by: SigningKeyForJWS(key: key), keyID: nil)
    }

    /// The enrollment in whose name an assertion is, before it is verified; nil if it has not the form of one.
    package static func enrollment(namedBy text: String) -> EnrollmentID? {
        guard text.utf8.count <= 4096 else { return nil }
        return JWS.unverifiedIssuer(of: text).flatMap { EnrollmentID($0) }
    }

    /// Reads an assertion that is good for a client at a server; nil for any other.
    ///
    /// - Parameters:
    ///   - text: the assertion as it was sent.
    ///   - key: the authentication key of the enrollment that it names.
    ///   - issuer: the server.
    ///   - client: the client's id.
    ///   - now: the server's time.
    ///   - tolerance: how many seconds the device's clock may be ahead.
    package init?(
        _ text: String, by key: P256.Signing.PublicKey, at issuer: Issuer, for client: String, now: Timestamp,
        tolerance: Int64
    ) {
        guard
            let verified = try? JWS.verify(
                text, algorithms: [.es256], type: .exactly(Self.type), key: JWK(.p256(key), keyID: nil)),
            let claims = try? JSONValue(parsing: verified.payload),
            let enrollment = claims["iss"]?.string.flatMap({ EnrollmentID($0) }),
            let user = claims["sub"]?.string.flatMap({ UserID($0) }),
            let name = claims["jti"]?.string, Self.nameLengths.contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer
        else { return nil }
        // One audience alone: a list could hold another server, which would then pass for the device here.
        // check: SignInDeviceTests.elsewhere
        guard claims["aud"] == .string("\(issuer)") && claims["client_id"] == .string(client) else { return nil }
        // check: SignInDeviceTests.times
        guard now.seconds < expiresAt && issuedAt <= now.seconds + tolerance else { return nil }
        // check: SignInDeviceTests.times
        guard issuedAt < expiresAt else { return nil }
        // Any number can stand in a claim: only when both lie near the server's time may they be subtracted.
        guard issuedAt > now.seconds - Self.lifetime && expiresAt <= now.seconds + tolerance + Self.lifetime else {
            return nil
        }
        // check: SignInDeviceTests.times
        guard expiresAt - issuedAt <= Self.lifetime else { return nil }
        challenge = claims["challenge"]?.string.flatMap { ChallengeID($0) }
        // A challenge that is not read must not count as none.
        guard (challenge == nil) == (claims["challenge"] == nil) else { return nil }
        self.enrollment = enrollment
        self.user = user
        self.issuer = issuer
        self.client = client
        self.name = name
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

/// Where a device wants to sign its user in by a PIN or a biometric.
///
/// Spec: docs/protocol/signing-in.md, *With a PIN or a biometric*.
package struct OwnSignInRequest: Equatable, Sendable {
    /// The client's id.
    package let client: String

    /// The request as JSON.
    package var json: JSONValue { ["client": .string(client)] }

    /// A request of these parts.
    package init(client: String) { self.client = client }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        client = try members.string("client")
        try members.refuseUnknown()
    }
}

/// A device's key, which signs for OpenPGP and for requests, as a key that signs JSON.
private struct SigningKeyForJWS: JWSSigningKey {
    let key: any SigningKey

    var jwsPublicKey: JWSPublicKey { .p256(key.publicKey) }

    func jwsSignature(of input: [UInt8]) async throws -> [UInt8] {
        Array(try await key.signature(for: SHA256.hash(data: Data(input))).rawRepresentation)
    }
}
