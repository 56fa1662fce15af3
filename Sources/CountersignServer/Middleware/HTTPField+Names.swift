import HTTPTypes

extension HTTPField.Name {
    /// Identifies the request in the log.
    static let requestID = known("X-Request-Id")
    /// Identifies a request that must be executed only once.
    static let idempotencyKey = known("Idempotency-Key")
    /// Marks a reply that repeats the reply to an earlier request.
    static let idempotencyReplayed = known("Idempotency-Replayed")
    /// The digest of the body.
    ///
    /// Spec: RFC 9530 §2.
    static let contentDigest = known("Content-Digest")
    /// A signature.
    ///
    /// Spec: RFC 9421 §4.2.
    static let signature = known("Signature")
    /// The components that a signature covers.
    ///
    /// Spec: RFC 9421 §4.1.
    static let signatureInput = known("Signature-Input")

    /// What the caller would like of the reply, such as that it waits.
    ///
    /// Spec: RFC 7240 §2.
    static let prefer = known("Prefer")

    /// What a page may load, and which pages may frame it.
    ///
    /// Spec: Content Security Policy, *The header field*.
    static let contentSecurityPolicy = known("Content-Security-Policy")

    /// Whether other pages may frame a page, for browsers that know no `frame-ancestors`.
    ///
    /// Spec: RFC 7034 §2.
    static let frameOptions = known("X-Frame-Options")

    /// What of a page's address the next page is told.
    static let referrerPolicy = known("Referrer-Policy")

    /// The id of the client, in the calls of apps that were written for Cotter.
    static let apiKeyID = known("API_KEY_ID")

    static func known(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("\(name) is the name of a field") }
        return name
    }
}
