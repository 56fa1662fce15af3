public import Crypto
public import Encodings

/// A private key as JSON: for storage, never for sending.
///
/// It has a type of its own, so that no set of public keys can hold one, and it does not print its content. Its JSON is
/// only available as a `Secret`.
///
/// Spec: RFC 7517 §4, RFC 7518 §6.2.2 and §6.3.2, RFC 8037 §2.
public struct PrivateJWK: JWSSigningKey {
    private enum Key {
        case p256(P256.Signing.PrivateKey)
        case rsa(RSAPrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)

        var signingKey: any JWSSigningKey {
            switch self {
            case .p256(let key): key
            case .rsa(let key): key
            case .ed25519(let key): key
            }
        }
    }

    /// The public half, with the same name.
    public let publicKey: JWK
    private let key: Secret<Key>

    private init(_ key: Key, keyID: String?) {
        let publicKey = key.signingKey.jwsPublicKey
        self.publicKey = JWK(publicKey, keyID: keyID ?? publicKey.thumbprint)
        self.key = Secret(key)
    }

    /// A key on P-256; its name is its own thumbprint by default.
    public init(_ key: P256.Signing.PrivateKey, keyID: String? = nil) {
        self.init(.p256(key), keyID: keyID)
    }

    /// An RSA key; its name is its own thumbprint by default.
    public init(_ key: RSAPrivateKey, keyID: String? = nil) {
        self.init(.rsa(key), keyID: keyID)
    }

    /// A key on Ed25519; its name is its own thumbprint by default.
    public init(_ key: Curve25519.Signing.PrivateKey, keyID: String? = nil) {
        self.init(.ed25519(key), keyID: keyID)
    }

    /// Reads a key from JSON.
    ///
    /// Public and private half must belong together. An RSA key has all its numbers, and only two primes.
    public init(importing json: Secret<[UInt8]>) throws(JOSEError) {
        guard let object = (try? JSONValue(parsing: json.reveal()))?.object else { throw .malformed }
        let publicKey = try JWSPublicKey(object)
        let keyID = try object.keyID()
        let key = try Self.key(of: publicKey, object)
        // check: PrivateJWKTests.mismatch
        guard key.signingKey.jwsPublicKey.thumbprint.hasSameBytes(as: publicKey.thumbprint) else { throw .malformed }
        try object.permit("sign", with: publicKey.algorithm)
        self.init(key, keyID: keyID)
    }

    private static func key(of publicKey: JWSPublicKey, _ object: JSONObject) throws(JOSEError) -> Key {
        switch publicKey {
        case .p256:
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: try object.octets("d", 32)) else {
                throw .malformed
            }
            return .p256(key)
        case .ed25519:
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: try object.octets("d", 32)) else {
                throw .malformed
            }
            return .ed25519(key)
        // Nothing of ours signs so.
        case .rsaPSS: throw .unsupportedKey
        case .rsa:
            // check: PrivateJWKTests.otherPrimes
            guard object["oth"] == nil else { throw .unsupportedKey }
            var numbers: [[UInt8]] = []
            for name in rsaMembers { numbers.append(try object.number(name)) }
            return .rsa(try RSAPrivateKey(derRepresentation: Secret(PKCS1.encode(numbers))))
        }
    }

    /// The numbers of an RSA key, in the order of their DER form.
    private static let rsaMembers = ["n", "e", "d", "p", "q", "dp", "dq", "qi"]

    /// The key with its private half as JSON, for storage where nobody else reads it.
    public func exported() -> Secret<[UInt8]> {
        var object = publicKey.json.object ?? JSONObject()
        switch key.reveal() {
        case .p256(let key): object["d"] = .string(Base64URL.encode(key.rawRepresentation))
        case .ed25519(let key): object["d"] = .string(Base64URL.encode(key.rawRepresentation))
        case .rsa(let key):
            let numbers = PKCS1.decode(key.derRepresentation.reveal()) ?? []
            for (name, number) in zip(Self.rsaMembers, numbers) { object[name] = .string(Base64URL.encode(number)) }
        }
        return Secret(JSONValue.object(object).encoded)
    }

    /// The name of the key.
    public var keyID: String { publicKey.keyID ?? publicKey.thumbprint }

    /// The public half.
    public var jwsPublicKey: JWSPublicKey { publicKey.publicKey }

    /// Signs in software.
    ///
    /// See ``JWSSigningKey/jwsSignature(of:)``.
    public func jwsSignature(of input: [UInt8]) async throws -> [UInt8] {
        try await key.reveal().signingKey.jwsSignature(of: input)
    }
}
