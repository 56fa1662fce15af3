public import Crypto
import Encodings

/// A private key that signs JSON: in software, or in hardware that never lets it out.
public protocol JWSSigningKey: Sendable {
    /// The public half.
    var publicKey: P256.Signing.PublicKey { get }

    /// The ECDSA signature of a SHA-256 digest.
    func jwsSignature(for digest: SHA256Digest) async throws -> P256.Signing.ECDSASignature
}

extension P256.Signing.PrivateKey: JWSSigningKey {
    /// Signs in software.
    ///
    /// See ``JWSSigningKey/jwsSignature(for:)``.
    public func jwsSignature(for digest: SHA256Digest) async throws -> P256.Signing.ECDSASignature {
        try signature(for: digest)
    }
}

/// A signed content in compact form, with ES256.
///
/// Spec: RFC 7515 §7.1, RFC 7518 §3.4.
public enum JWS {
    /// The most bytes a compact JWS may have.
    public static let maximumSize = 64 * 1024

    /// Signs a content.
    ///
    /// - Parameters:
    ///   - payload: the content.
    ///   - type: the `typ` header, which says what kind of content it is.
    ///   - key: the key that signs.
    ///   - keyID: the `kid` header.
    public static func sign(
        _ payload: [UInt8], type: String, by key: any JWSSigningKey, keyID: String
    ) async throws -> String {
        let header = JSONValue.members(["alg": "ES256", "typ": .string(type), "kid": .string(keyID)])
        let input = "\(Base64URL.encode(header.encoded)).\(Base64URL.encode(payload))"
        let signature = try await key.jwsSignature(for: SHA256.hash(data: Array(input.utf8)))
        return "\(input).\(Base64URL.encode(signature.rawRepresentation))"
    }

    /// The content, after its signature was verified.
    ///
    /// - Parameters:
    ///   - compact: the JWS.
    ///   - type: the `typ` it must have, compared byte for byte.
    ///   - keys: the keys one of which the header must name.
    public static func verify(_ compact: String, type: String, keys: JWKSet) throws(JOSEError) -> [UInt8] {
        guard compact.utf8.count <= maximumSize else { throw .tooLarge }
        let parts = compact.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.decode(Substring(parts[0])).flatMap({ try? JSONValue(parsing: $0) })?.object,
            let payload = Base64URL.decode(Substring(parts[1])),
            let raw = Base64URL.decode(Substring(parts[2])), raw.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw)
        else { throw .malformed }
        guard header["crit"] == nil else { throw .criticalHeader }
        guard header["alg"] == "ES256" else { throw .unexpectedAlgorithm }
        guard header["typ"] == .string(type) else { throw .unexpectedType }
        guard let keyID = header["kid"]?.string, let key = keys[keyID] else { throw .unknownKeyID }
        let input = Array(compact.utf8[..<parts[1].endIndex])
        guard key.publicKey.isValidSignature(signature, for: SHA256.hash(data: input)) else { throw .badSignature }
        return payload
    }
}
