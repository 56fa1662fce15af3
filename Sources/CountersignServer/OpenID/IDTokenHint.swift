import CountersignCore
import CountersignWire
import Encodings
import JOSE

/// An ID token of ours that a client sends back to say whom it means; it may be over.
///
/// Spec: OpenID Connect Core 1.0 §3.1.2.1; OpenID Connect RP-Initiated Logout 1.0 §2.
struct IDTokenHint {
    /// The client that it was for.
    let client: ClientID
    /// The user.
    let user: UserID
    /// The session's name for the client; nil if it has none.
    let sid: String?
    /// When it was over; nil if it does not say so.
    let expiresAt: Timestamp?

    /// Reads a hint; nil for anything but an ID token of this issuer.
    init?(_ text: String, _ ports: Ports) {
        guard let verified = try? Self.verified(text, ports),
            let claims = try? JSONValue(parsing: verified.payload)
        else { return nil }
        // check: LogoutHintTests.issuer
        guard claims["iss"] == .string("\(ports.issuer)") else { return nil }
        guard let client = claims["aud"]?.string.flatMap({ ClientID($0) }),
            let user = claims["sub"]?.string.flatMap({ UserID($0) })
        else { return nil }
        self.client = client
        self.user = user
        sid = claims["sid"]?.string
        expiresAt = claims["exp"]?.integer.map { Timestamp(seconds: $0) }
    }

    /// Whether a text says that it is an ID token of this issuer, by a key that is no longer kept.
    ///
    /// Nobody can tell whether it is one, so nothing else in it counts.
    static func isByForgottenKey(_ text: String, _ ports: Ports) -> Bool {
        do {
            _ = try verified(text, ports)
            return false
        } catch {
            return (error as? JOSEError) == .unknownKeyID && JWS.unverifiedIssuer(of: text) == "\(ports.issuer)"
        }
    }

    private static func verified(_ text: String, _ ports: Ports) throws -> VerifiedJWS {
        let keys = try ports.keys.current().tokens.published
        return try JWS.verify(text, algorithms: [.rs256, .es256], type: .exactly("JWT"), keys: keys)
    }
}
