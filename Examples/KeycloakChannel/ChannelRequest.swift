import Crypto
import Encodings

/// What Keycloak wants somebody to be asked.
///
/// Members that are not named here are not kept: Keycloak may pass on whatever its client has sent.
struct ChannelRequest: Sendable {
    /// Whom to ask: the user's name at Keycloak.
    let loginHint: String
    /// What the client gets access to.
    let scope: String?
    /// What the client shows, too.
    let bindingMessage: String?
    /// Whether the person must be asked for the scope.
    let isConsentRequired: Bool
    /// The hash of the whole body, which differs for another request.
    let digest: [UInt8]

    /// Reads a body.
    init(_ body: [UInt8]) throws {
        var members = try JSONMembers(try JSONValue(parsing: body))
        loginHint = try members.string("login_hint")
        scope = try members.optionalString("scope")
        bindingMessage = try members.optionalString("binding_message")
        isConsentRequired = try members.optionalBool("is_consent_required") ?? false
        digest = Array(SHA256.hash(data: body))
    }
}
