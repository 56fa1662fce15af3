public import Crypto
public import Encodings

/// A public key as JSON: P-256 for ES256.
///
/// Spec: RFC 7517, RFC 7518 §6.2.
public struct JWK: Sendable {
    /// The key's name within its set.
    public let keyID: String
    /// The key.
    public let publicKey: P256.Signing.PublicKey

    /// A key named by its own thumbprint.
    ///
    /// Spec: RFC 7638.
    public init(_ publicKey: P256.Signing.PublicKey) {
        self.publicKey = publicKey
        keyID = Self.thumbprint(of: publicKey)
    }

    /// Reads a key.
    ///
    /// Private members are refused: a private key has no business being sent.
    public init(_ value: JSONValue) throws(JOSEError) {
        guard value.object != nil, let keyType = value["kty"]?.string else { throw .malformed }
        guard keyType.hasSameBytes(as: "EC"), value["crv"]?.string?.hasSameBytes(as: "P-256") == true,
            value["d"] == nil, value["alg"].map({ $0 == "ES256" }) ?? true, value["use"].map({ $0 == "sig" }) ?? true
        else { throw .unsupportedKey }
        guard let keyID = value["kid"]?.string,
            let x = value["x"]?.string.flatMap({ Base64URL.decode($0) }), x.count == 32,
            let y = value["y"]?.string.flatMap({ Base64URL.decode($0) }), y.count == 32,
            let publicKey = try? P256.Signing.PublicKey(rawRepresentation: x + y)
        else { throw .malformed }
        self.keyID = keyID
        self.publicKey = publicKey
    }

    /// The key as JSON.
    public var json: JSONValue {
        let raw = publicKey.rawRepresentation
        return .members([
            "kty": "EC", "crv": "P-256",
            "x": .string(Base64URL.encode(raw.prefix(32))), "y": .string(Base64URL.encode(raw.suffix(32))),
            "kid": .string(keyID), "use": "sig", "alg": "ES256",
        ])
    }

    /// The SHA-256 thumbprint of the key in base64url.
    ///
    /// Spec: RFC 7638 §3.
    public static func thumbprint(of publicKey: P256.Signing.PublicKey) -> String {
        let raw = publicKey.rawRepresentation
        // The required members in lexicographic order, without blanks.
        let members = JSONValue.members([
            "crv": "P-256", "kty": "EC",
            "x": .string(Base64URL.encode(raw.prefix(32))), "y": .string(Base64URL.encode(raw.suffix(32))),
        ])
        return Base64URL.encode(Array(SHA256.hash(data: members.encoded)))
    }
}

/// A set of public keys.
///
/// Spec: RFC 7517 §5.
public struct JWKSet: Sendable {
    /// The keys.
    public let keys: [JWK]
    private static let maximumCount = 64

    /// A set of these keys.
    public init(_ keys: [JWK]) {
        self.keys = keys
    }

    /// Reads a set.
    ///
    /// Keys of kinds not supported are left out, as the specification asks; malformed ones refuse the set.
    public init(_ value: JSONValue) throws(JOSEError) {
        guard let elements = value["keys"]?.array else { throw .malformed }
        guard elements.count <= Self.maximumCount else { throw .tooLarge }
        var keys: [JWK] = []
        for element in elements {
            do throws(JOSEError) {
                keys.append(try JWK(element))
            } catch .unsupportedKey {
                continue
            }
        }
        self.keys = keys
    }

    /// The set as JSON.
    public var json: JSONValue { .members(["keys": .array(keys.map(\.json))]) }

    /// The key of this name, or nil.
    public subscript(keyID: String) -> JWK? { keys.first { $0.keyID.hasSameBytes(as: keyID) } }
}
