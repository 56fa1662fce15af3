import Crypto
import CryptoExtras
public import Encodings

/// An RSA private key in software that signs with RS256.
public struct RSAPrivateKey: JWSSigningKey {
    /// The public half.
    public let publicKey: RSAPublicKey
    private let key: Secret<_RSA.Signing.PrivateKey>

    /// A new key.
    ///
    /// - Parameter bits: its size, a multiple of 8.
    /// - Throws: ``JOSEError/weakKey`` below 2048 bits, ``JOSEError/unsupportedKey`` beyond 8192.
    public init(bits: Int = RSAPublicKey.minimumBits) throws {
        guard bits >= RSAPublicKey.minimumBits else { throw JOSEError.weakKey }
        guard bits <= RSAPublicKey.maximumBits, bits.isMultiple(of: 8) else { throw JOSEError.unsupportedKey }
        try self.init(try _RSA.Signing.PrivateKey(keySize: _RSA.Signing.KeySize(bitCount: bits)))
    }

    /// Reads a key in DER, as RSAPrivateKey or PKCS #8; numbers that do not belong together are refused.
    ///
    /// Spec: RFC 8017 appendix A.1.2, RFC 5208 §5.
    public init(derRepresentation: Secret<[UInt8]>) throws(JOSEError) {
        // check: RSAKeyTests.refusals
        guard derRepresentation.reveal().count <= RSAPublicKey.maximumBits else { throw .tooLarge }
        guard let key = try? _RSA.Signing.PrivateKey(unsafeDERRepresentation: derRepresentation.reveal()) else {
            throw .malformed
        }
        try self.init(key)
    }

    /// A key in PEM, as `RSA PRIVATE KEY` or `PRIVATE KEY`; see ``init(derRepresentation:)``.
    ///
    /// Spec: RFC 7468 §10.
    public init(pemRepresentation: Secret<String>) throws(JOSEError) {
        // check: RSAKeyTests.pem
        guard pemRepresentation.reveal().utf8.count <= 2 * RSAPublicKey.maximumBits else { throw .tooLarge }
        guard let key = try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: pemRepresentation.reveal()) else {
            throw .malformed
        }
        try self.init(key)
    }

    private init(_ key: _RSA.Signing.PrivateKey) throws(JOSEError) {
        publicKey = try RSAPublicKey(key.publicKey)
        self.key = Secret(key)
    }

    /// The key in DER, as RSAPrivateKey.
    public var derRepresentation: Secret<[UInt8]> { Secret(Array(key.reveal().derRepresentation)) }

    /// The public half.
    public var jwsPublicKey: JWSPublicKey { .rsa(publicKey) }

    /// Signs in software.
    ///
    /// See ``JWSSigningKey/jwsSignature(of:)``.
    public func jwsSignature(of input: [UInt8]) async throws -> [UInt8] {
        let digest = SHA256.hash(data: input)
        return Array(try key.reveal().signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
    }
}
