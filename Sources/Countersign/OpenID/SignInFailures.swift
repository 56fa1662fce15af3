/// Why the issuer signed nobody in, in the terms of the specification.
///
/// Spec: RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core 1.0 §3.1.2.6, RFC 8628 §3.5.
public enum SignInRefusal: Hashable, Sendable {
    /// The person, or their device, declined.
    case declined
    /// The person would have had to sign in, and the app had asked for no page.
    case loginRequired
    /// Nobody has approved it in time.
    ///
    /// Spec: RFC 8628 §3.5.
    case expired
    /// The issuer cannot do it now.
    case unavailable
    /// Another error: its code in the specification, or `unknown` for a code that no specification allows.
    case other(code: String)

    /// Reads the code of an error response.
    init(code: String) {
        switch code {
        case "access_denied": self = .declined
        case "login_required", "interaction_required", "account_selection_required", "consent_required":
            self = .loginRequired
        case "expired_token": self = .expired
        case "temporarily_unavailable", "server_error": self = .unavailable
        default:
            // Spec: RFC 6749 Appendix A.7. A code is shown to people and written to logs.
            let isPlain =
                (1...64).contains(code.utf8.count)
                && code.utf8.allSatisfy { ("a"..."z").contains(Character(Unicode.Scalar($0))) || $0 == 0x5F }
            self = .other(code: isPlain ? code : "unknown")
        }
    }

    /// The part of the error's code that is this refusal's own.
    var word: String {
        switch self {
        case .declined: "declined"
        case .loginRequired: "login_required"
        case .expired: "expired"
        case .unavailable: "unavailable"
        case .other: "refused"
        }
    }
}

/// Why what the browser brought back is not the answer to this app's request.
public enum ResponseFault: String, CaseIterable, Hashable, Sendable {
    /// It has no code and no error, or a parameter twice, or came to another address.
    case malformed
    /// It belongs to another request, or somebody made it up.
    ///
    /// Spec: RFC 9700 §4.7.1.
    case wrongState = "wrong_state"
    /// It does not say who sent it.
    ///
    /// Spec: RFC 9207 §2.4.
    case noIssuer = "no_issuer"
    /// Another issuer sent it, which would get the code.
    ///
    /// Spec: RFC 9207 §2.4, RFC 9700 §4.4.
    case otherIssuer = "other_issuer"
}

/// Why an ID token does not prove who signed in.
///
/// Spec: OpenID Connect Core 1.0 §3.1.3.7, §12.2.
public enum IDTokenFault: String, CaseIterable, Hashable, Sendable {
    /// It is not there, is not a signed token, or lacks a claim that it must have.
    case malformed
    /// It is signed by an algorithm that is not accepted, such as `none`.
    case algorithm
    /// The issuer publishes no key of its name for signing.
    case key
    /// Its signature is wrong.
    case signature
    /// Another issuer is named in it.
    case issuer
    /// It is for another client, or for others as well.
    case audience
    /// It belongs to another request.
    case nonce
    /// It is over, by the clock of this device.
    case expired
    /// It was made later than now, by the clock of this device.
    case future
    /// It belongs to another access token.
    case accessToken = "access_token"
    /// The person signed in longer ago than the app allows.
    case authTime = "auth_time"
    /// The person signed in by weaker means than the app asked for.
    case acr
    /// It is about another person than before.
    case subject
}
