import Crypto
import CryptoExtras

/// An RSA public key that is strong enough to be used.
public struct RSAPublicKey: Sendable {
    /// The least size.
    ///
    /// Spec: RFC 7518 §3.3.
    public static let minimumBits = 2048
    /// The greatest size; verifying with a larger key would cost too much.
    public static let maximumBits = 8192

    /// The modulus, most significant byte first, without a leading zero.
    public let modulus: [UInt8]
    /// The public exponent, in the same form.
    public let exponent: [UInt8]
    private let key: _RSA.Signing.PublicKey

    /// A key of these numbers.
    ///
    /// - Throws: ``JOSEError/weakKey`` below 2048 bits, and for an exponent below 65537, which makes forging easier or
    ///   easy; ``JOSEError/unsupportedKey`` beyond 8192 bits or an exponent of 33; ``JOSEError/malformed`` for a number
    ///   that is impossible. Spec: RFC 7518 §3.3; FIPS 186-5 §5.1 and appendix A.1.1.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(JOSEError) {
        guard let first = modulus.first, first != 0, let high = exponent.first, high != 0 else { throw .malformed }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        // check: RSAKeyTests.small
        guard bits >= Self.minimumBits else { throw .weakKey }
        // check: RSAKeyTests.exponents
        guard bits <= Self.maximumBits, exponent.count < 5 || exponent.count == 5 && high == 1 else {
            throw .unsupportedKey
        }
        // check: RSAKeyTests.smallExponents
        guard exponent.reduce(0, { $0 << 8 | UInt64($1) }) >= 65537 else { throw .weakKey }
        guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent) else { throw .malformed }
        self.modulus = modulus
        self.exponent = exponent
        self.key = key
    }

    /// A key in DER, as SubjectPublicKeyInfo or RSAPublicKey.
    ///
    /// Spec: RFC 8017 appendix A.1.1, RFC 5280 §4.1.
    public init(derRepresentation: [UInt8]) throws(JOSEError) {
        // check: RSAKeyTests.refusals
        guard derRepresentation.count <= Self.maximumBits else { throw .tooLarge }
        guard let key = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: derRepresentation) else {
            // The library does not even read keys below 1024 bits.
            throw .malformed
        }
        try self.init(key)
    }

    init(_ key: _RSA.Signing.PublicKey) throws(JOSEError) {
        guard let numbers = try? key.getKeyPrimitives() else { throw .malformed }
        try self.init(modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent))
    }

    /// The key in DER, as SubjectPublicKeyInfo.
    public var derRepresentation: [UInt8] { Array(key.derRepresentation) }

    /// Whether this key made the signature for the input.
    ///
    /// With PSS, the salt must have the length of the hash. Spec: RFC 7518 §3.5.
    func isValid(_ signature: [UInt8], for input: [UInt8], padding: _RSA.Signing.Padding) -> Bool {
        key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: input), padding: padding)
    }
}
