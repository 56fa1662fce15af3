public import Crypto
import Encodings

/// A private key that signs JSON: in software, or in hardware that never releases it.
///
/// A key in a Secure Enclave needs two lines to conform: its public key, and `try signature(for: input)` in its raw
/// representation.
public protocol JWSSigningKey: Sendable {
    /// The public half; its kind determines the algorithm.
    var jwsPublicKey: JWSPublicKey { get }

    /// The signature of the input, in the form that its algorithm has within a JWS.
    ///
    /// ES256: the two numbers of the signature, 32 bytes each; RS256: as many bytes as the modulus; EdDSA: 64 bytes.
    /// The method hashes the input itself. Spec: RFC 7518 §3, RFC 8037 §3.1.
    func jwsSignature(of input: [UInt8]) async throws -> [UInt8]
}

extension P256.Signing.PrivateKey: JWSSigningKey {
    /// The public half.
    public var jwsPublicKey: JWSPublicKey { .p256(publicKey) }

    /// Signs in software.
    ///
    /// See ``JWSSigningKey/jwsSignature(of:)``.
    public func jwsSignature(of input: [UInt8]) async throws -> [UInt8] {
        Array(try signature(for: input).rawRepresentation)
    }
}

extension Curve25519.Signing.PrivateKey: JWSSigningKey {
    /// The public half.
    public var jwsPublicKey: JWSPublicKey { .ed25519(publicKey) }

    /// Signs in software.
    ///
    /// See ``JWSSigningKey/jwsSignature(of:)``.
    public func jwsSignature(of input: [UInt8]) async throws -> [UInt8] {
        Array(try signature(for: input))
    }
}
