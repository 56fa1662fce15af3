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

    /// Reads a hint; nil for anything but an ID token of this issuer.
    init?(_ text: String, _ ports: Ports) {
        guard let keys = try? ports.keys.current().tokens.published,
            let verified = try? JWS.verify(text, algorithms: [.rs256, .es256], type: .exactly("JWT"), keys: keys),
            let claims = try? JSONValue(parsing: verified.payload), claims["iss"] == .string("\(ports.issuer)"),
            let client = claims["aud"]?.string.flatMap({ ClientID($0) }),
            let user = claims["sub"]?.string.flatMap({ UserID($0) })
        else { return nil }
        self.client = client
        self.user = user
        sid = claims["sid"]?.string
    }
}
