public import Crypto
public import Encodings

/// A public key as JSON.
///
/// Private keys have a separate type, ``PrivateJWK``, so this type cannot hold one.
///
/// Spec: RFC 7517 §4, RFC 7518 §6, RFC 8037 §2.
public struct JWK: Sendable {
    /// The members of private and symmetric keys.
    ///
    /// Spec: RFC 7518 §6.2.2, §6.3.2 and §6.4, RFC 8037 §2.
    private static let secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// The key's name within its set, or nil.
    public let keyID: String?
    /// The key.
    public let publicKey: JWSPublicKey

    /// A key of this name, or without one.
    public init(_ publicKey: JWSPublicKey, keyID: String?) {
        self.publicKey = publicKey
        self.keyID = keyID
    }

    /// A key named by its own thumbprint.
    ///
    /// Spec: RFC 7638 §3.
    public init(_ publicKey: JWSPublicKey) {
        self.init(publicKey, keyID: publicKey.thumbprint)
    }

    /// A key on P-256 named by its own thumbprint.
    public init(_ publicKey: P256.Signing.PublicKey) {
        self.init(.p256(publicKey))
    }

    /// Reads a key.
    ///
    /// A private key is refused instead of being reduced to its public half: nobody should have sent it.
    public init(_ value: JSONValue) throws(JOSEError) {
        guard let object = value.object else { throw .malformed }
        // check: JWKTests.privateKey
        guard Self.secretMembers.allSatisfy({ object[$0] == nil }) else { throw .privateKey }
        publicKey = try JWSPublicKey(object)
        keyID = try object.keyID()
        try object.permit("verify", with: publicKey.algorithm)
    }

    /// The key as JSON.
    public var json: JSONValue {
        var object = publicKey.requiredMembers
        object["kid"] = keyID.map { .string($0) }
        object["use"] = "sig"
        object["alg"] = .string(publicKey.algorithm.rawValue)
        return .object(object)
    }

    /// The SHA-256 thumbprint of the key in base64url, whatever its name.
    ///
    /// Spec: RFC 7638 §3.
    public var thumbprint: String { publicKey.thumbprint }
}
