import Encodings
import JOSE

/// What a device with JWKs signs to get an access token for its own enrollment, and for nothing else.
///
/// Spec: docs/protocol/jwk-devices.md, *A token for the device's own enrollment*; RFC 7523 §3.
package struct MaintenanceAssertion: Equatable, Sendable {
    /// What the claim `iss` says: who calls so, and not which device.
    private static let caller = "urn:okta:devices:app:authenticator"
    /// The claim that names the enrollment.
    private static let enrollmentClaim = "methodEnrollmentId"
    /// The header `typ`.
    private static let type = "JWT"

    /// The enrollment whose key of possession signs.
    package let enrollment: EnrollmentID
    /// Its user.
    package let user: UserID
    /// Its own name, which is taken once.
    package let name: String
    /// When it is over, in seconds since 1970.
    package let expiresAt: Int64

    /// The enrollment in whose name an assertion is, before it is verified; nil if it has not the form of one.
    package static func enrollment(namedBy text: String) -> EnrollmentID? {
        guard text.utf8.count <= JWTAnswer.maximumSize else { return nil }
        return JWS.unverifiedClaim(enrollmentClaim, of: text).flatMap { EnrollmentID($0) }
    }

    /// Reads an assertion that is good at a server; nil for any other.
    ///
    /// - Parameters:
    ///   - text: the assertion as it was sent.
    ///   - keys: the keys of the enrollment that it names.
    ///   - issuer: the server.
    ///   - now: the server's time.
    ///   - tolerance: how far the device's clock may be off beyond the times of the assertion.
    package init?(_ text: String, by keys: DeviceJWKs, at issuer: Issuer, now: Timestamp, tolerance: Seconds) {
        guard
            let verified = try? JWS.verify(
                text, algorithms: DeviceJWKs.algorithms, type: .exactly(Self.type),
                keys: JWKSet([keys.proofOfPossession])),
            let claims = try? JSONValue(parsing: verified.payload),
            let enrollment = claims[Self.enrollmentClaim]?.string.flatMap({ EnrollmentID($0) }),
            let user = claims["sub"]?.string.flatMap({ UserID($0) }),
            let name = claims["jti"]?.string, (1...JWTAnswer.longestID).contains(name.utf8.count),
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer,
            let notBefore = claims["nbf"] == nil ? issuedAt : claims["nbf"]?.integer
        else { return nil }
        // check: MaintenanceAssertionTests.claims
        guard claims["iss"] == .string(Self.caller) && claims["aud"] == .string("\(issuer)") else { return nil }
        // Any number can stand in a claim: only small ones may be subtracted.
        guard [notBefore, issuedAt, expiresAt].allSatisfy({ (0...1 << 40).contains($0) }) else { return nil }
        // check: MaintenanceAssertionTests.times
        guard notBefore <= issuedAt && issuedAt < expiresAt && expiresAt - notBefore <= JWTAnswer.longestLife.value
        else {
            return nil
        }
        // check: MaintenanceAssertionTests.times
        guard notBefore <= now.adding(tolerance).seconds && now.adding(-tolerance).seconds < expiresAt else {
            return nil
        }
        self.enrollment = enrollment
        self.user = user
        self.name = name
        self.expiresAt = expiresAt
    }
}
