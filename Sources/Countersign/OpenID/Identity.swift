import CountersignWire
import Encodings
public import Foundation

/// Who signed in, how and when: the claims of an ID token that was verified.
///
/// Spec: OpenID Connect Core 1.0 §2, docs/guides/openid.md.
public struct Identity: Sendable {
    /// The person's id at the issuer, which is never given to another person.
    public let subject: String
    /// How strongly the person was authenticated; nil if the issuer does not say.
    public let acr: String?
    /// By what the person was authenticated, in the words of RFC 8176.
    public let amr: [String]
    /// When the person was authenticated, in seconds since 1970; nil if the issuer does not say.
    public let authTime: Int64?
    /// The person's address; nil if the issuer does not say.
    public let email: String?
    /// The session at the issuer; nil if the issuer does not say.
    public let sessionID: String?

    let claims: JSONObject

    /// Any claim that is a text; nil if it is none.
    public func text(of claim: String) -> String? { claims[claim]?.string }

    /// Reads claims; nil without a subject of 1 to 255 ASCII characters.
    ///
    /// Spec: OpenID Connect Core 1.0 §2, `sub`.
    init?(_ claims: JSONObject) {
        guard let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count),
            subject.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        self.subject = subject
        acr = claims["acr"]?.string
        amr = claims["amr"]?.array?.compactMap(\.string) ?? []
        authTime = claims["auth_time"]?.integer
        email = claims["email"]?.string
        sessionID = claims["sid"]?.string
        self.claims = claims
    }
}

/// A token that gives access for some minutes; it does not print.
///
/// Most are bound to a key: then a request needs a proof of the key beside the token. Use
/// ``headerFields(for:_:nonce:)``, which makes the fields for either kind. Spec: RFC 6750 §2.1, RFC 9449 §7.1.
public struct AccessToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let secret: Secret<String>
    /// When it is over, by this device's clock, in milliseconds since 1970.
    public let expiresAt: Int64
    /// The key to which it is bound; nil for none.
    let key: TokenKey?

    init(_ secret: Secret<String>, expiresAt: Timestamp, key: TokenKey?) {
        self.secret = secret
        self.expiresAt = expiresAt.milliseconds
        self.key = key
    }

    /// A token that the app has from another library, and that is bound to no key.
    ///
    /// - Parameters:
    ///   - text: the token; nil comes of a text that could bring a field of its own into a request.
    ///   - expiresAt: when it is over, in milliseconds since 1970, if the app knows it.
    public init?(bearer text: String, expiresAt: Int64 = .max) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.init(Secret(text), expiresAt: Timestamp(milliseconds: expiresAt), key: nil)
    }

    /// Whether it is bound to a key, without which it is worth nothing.
    public var isBound: Bool { key != nil }

    /// The token itself; in a field `Authorization: Bearer` it is good only if it is not ``isBound``.
    ///
    /// The caller is responsible for where it goes.
    public func reveal() -> String { secret.reveal() }

    /// The header fields by which one request shows the token: `Authorization` and, if the token is bound, `DPoP`.
    ///
    /// Make them anew for each request: a proof is good once, for a minute. An API that answers with the field
    /// `DPoP-Nonce` and the error `use_dpop_nonce` wants the same request again, with the nonce of that field, and may
    /// give another one with each of its replies.
    ///
    /// - Parameters:
    ///   - method: the method of the request, in upper case.
    ///   - url: its address.
    ///   - nonce: the nonce that the API has given last; nil for none.
    /// - Throws: ``CountersignError/vault(_:)`` if the key fails.
    public func headerFields(
        for method: String, _ url: URL, nonce: String? = nil
    ) async throws(CountersignError) -> [String: String] {
        guard let key else { return ["Authorization": "Bearer \(secret.reveal())"] }
        return [
            "Authorization": "DPoP \(secret.reveal())",
            KeyProof.field: try await key.proof(method, url, for: secret, nonce: nonce),
        ]
    }

    /// Always `•••`.
    public var description: String { "\(secret)" }
    /// Always `•••`.
    public var debugDescription: String { "\(secret)" }
    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
