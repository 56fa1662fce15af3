public import Crypto
import CryptoExtras
import Encodings

/// A public key of a kind that can verify signatures.
public enum JWSPublicKey: Sendable {
    /// A point on P-256, for ES256.
    case p256(P256.Signing.PublicKey)
    /// An RSA key of at least 2048 bits, for RS256.
    case rsa(RSAPublicKey)
    /// The same for PS256: an RSA key as JSON says so by its `alg`, and is for RS256 without one.
    case rsaPSS(RSAPublicKey)
    /// A point on Ed25519, for EdDSA.
    case ed25519(Curve25519.Signing.PublicKey)

    /// The only algorithm for this kind of key.
    public var algorithm: JWSAlgorithm {
        switch self {
        case .p256: .es256
        case .rsa: .rs256
        case .rsaPSS: .ps256
        case .ed25519: .edDSA
        }
    }

    /// How many bytes a signature has.
    ///
    /// Spec: RFC 7518 §3.3, §3.4 and §3.5, RFC 8032 §5.1.6.
    var signatureSize: Int {
        switch self {
        case .p256, .ed25519: 64
        case .rsa(let key), .rsaPSS(let key): key.modulus.count
        }
    }

    /// Whether this key made the signature for the input.
    package func isValid(_ signature: [UInt8], for input: [UInt8]) -> Bool {
        switch self {
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: input)
        case .rsa(let key): return key.isValid(signature, for: input, padding: .insecurePKCS1v1_5)
        case .rsaPSS(let key): return key.isValid(signature, for: input, padding: .PSS)
        case .ed25519(let key): return key.isValidSignature(signature, for: input)
        }
    }

    /// The members that make the key, in the order of their names.
    ///
    /// Spec: RFC 7638 §3.2, RFC 8037 §2.
    var requiredMembers: JSONObject {
        switch self {
        case .p256(let key):
            let raw = key.rawRepresentation
            return [
                "crv": "P-256", "kty": "EC", "x": .string(Base64URL.encode(raw.prefix(32))),
                "y": .string(Base64URL.encode(raw.suffix(32))),
            ]
        case .rsa(let key), .rsaPSS(let key):
            return [
                "e": .string(Base64URL.encode(key.exponent)), "kty": "RSA", "n": .string(Base64URL.encode(key.modulus)),
            ]
        case .ed25519(let key):
            return ["crv": "Ed25519", "kty": "OKP", "x": .string(Base64URL.encode(key.rawRepresentation))]
        }
    }

    /// The SHA-256 thumbprint of the key in base64url.
    ///
    /// Spec: RFC 7638 §3.
    public var thumbprint: String {
        Base64URL.encode(Array(SHA256.hash(data: JSONValue.object(requiredMembers).encoded)))
    }
}

/// The forms in which devices of some vendors send keys and signatures.
extension JWSPublicKey {
    /// Reads a key on P-256, or an RSA key for RS256, in DER.
    ///
    /// Spec: RFC 5280 §4.1 (SubjectPublicKeyInfo).
    package init(derRepresentation: [UInt8]) throws(JOSEError) {
        if let key = try? P256.Signing.PublicKey(derRepresentation: derRepresentation) {
            self = .p256(key)
        } else {
            self = .rsa(try RSAPublicKey(derRepresentation: derRepresentation))
        }
    }

    /// Whether this key made a signature for the input that is in DER where the algorithm is ECDSA, and otherwise as in a
    /// JWS.
    ///
    /// Spec: RFC 3279 §2.2.3.
    package func isValid(derSignature signature: [UInt8], for input: [UInt8]) -> Bool {
        guard case .p256(let key) = self else { return isValid(signature, for: input) }
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: input)
    }
}

extension JWSPublicKey {
    /// Reads the members that make up a public key, and ignores others.
    init(_ object: JSONObject) throws(JOSEError) {
        // check: JWKTests.malformed
        guard object["kty"]?.string != nil else { throw .malformed }
        // JSON values are compared by bytes; as a `String`, "OKP" with a Kelvin sign would equal "OKP".
        switch (object["kty"], object["crv"]) {
        case ("EC", "P-256"):
            let point = try object.octets("x", 32) + object.octets("y", 32)
            guard let key = try? P256.Signing.PublicKey(rawRepresentation: point) else { throw .malformed }
            self = .p256(key)
        case ("OKP", "Ed25519"):
            try self.init(ed25519: object.octets("x", 32))
        case ("RSA", _):
            let key = try RSAPublicKey(modulus: object.number("n"), exponent: object.number("e"))
            self = object["alg"] == .string(JWSAlgorithm.ps256.rawValue) ? .rsaPSS(key) : .rsa(key)
        default: throw .unsupportedKey
        }
    }

    /// A point on Ed25519 that nobody can forge signatures for, in its only encoding.
    package init(ed25519 point: [UInt8]) throws(JOSEError) {
        guard point.count == 32 else { throw .malformed }
        // check: Ed25519KeyTests.smallOrder
        guard !Ed25519Point.isWeak(point) else { throw .weakKey }
        guard Ed25519Point.isReduced(point), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: point)
        else { throw .malformed }
        self = .ed25519(key)
    }
}
