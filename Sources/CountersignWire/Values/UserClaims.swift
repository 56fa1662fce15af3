package import Encodings

/// What a client says of a user for itself, such as groups: claims that it alone gets back.
///
/// Spec: OpenID Connect Core 1.0 §5.1.2.
package struct UserClaims: Sendable, Equatable {
    /// The most bytes that they may have as JSON.
    package static let maximumLength = 4096

    /// Names that say what we say, or what tokens need.
    ///
    /// Spec: RFC 7519 §4.1; OpenID Connect Core 1.0 §2, §5.1, §5.6.2.
    package static let reserved: Set<String> = [
        "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "acr", "amr", "azp", "sid", "at_hash",
        "c_hash", "s_hash", "scope", "client_id", "cnf", "active", "email", "email_verified", "phone_number",
        "phone_number_verified", "_claim_names", "_claim_sources",
    ]

    /// The claims; at least one.
    package let json: JSONObject

    /// Accepts claims; nil for what is no object, or for one that is empty or too long, or has an empty or a reserved
    /// name.
    package init?(_ json: JSONValue) {
        guard let object = json.object, !object.members.isEmpty, json.encoded.count <= Self.maximumLength,
            object.members.allSatisfy({ !$0.name.isEmpty && !Self.reserved.contains($0.name) })
        else { return nil }
        self.json = object
    }

    package static func == (left: UserClaims, right: UserClaims) -> Bool {
        JSONValue.object(left.json).encoded == JSONValue.object(right.json).encoded
    }
}
