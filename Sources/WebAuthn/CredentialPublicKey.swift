import Crypto
import JOSE

/// The public key of a passkey.
package struct CredentialPublicKey: Sendable {
    /// The algorithms that are offered, by their COSE numbers and in the order of preference.
    ///
    /// Spec: WebAuthn Level 3 §5.8.5.
    package enum Algorithm: Int64, CaseIterable, Sendable {
        /// ECDSA on P-256 with SHA-256.
        case es256 = -7
        /// EdDSA on Ed25519.
        case edDSA = -8
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = -257
    }

    /// The key as its authenticator wrote it, which is how it is kept.
    package let cose: [UInt8]
    /// The only algorithm of the key.
    package let algorithm: Algorithm
    private let key: JWSPublicKey

    /// Reads a COSE key in canonical form.
    ///
    /// It must name its algorithm, and have no member that the algorithm does not need.
    ///
    /// - Throws: ``WebAuthnError/cbor(_:)``, ``WebAuthnError/unsupportedAlgorithm``, ``WebAuthnError/malformedKey`` or
    ///   ``WebAuthnError/weakKey``. Spec: WebAuthn Level 3 §6.5.1 and §5.8.5.
    package init(cose: [UInt8]) throws(WebAuthnError) {
        let map: CBORValue
        do throws(CBORError) { map = try CBORValue(parsing: cose) } catch { throw .cbor(error) }
        guard let number = map[3]?.integer else { throw .malformedKey }
        guard let algorithm = Algorithm(rawValue: number) else { throw .unsupportedAlgorithm }
        let members = algorithm == .es256 ? 5 : 4
        // check: CredentialPublicKeyTests.members
        guard map.members?.count == members else { throw .malformedKey }
        do {
            switch algorithm {
            case .es256: key = .p256(try Self.p256(map))
            case .edDSA: key = try Self.ed25519(map)
            case .rs256: key = .rsa(try Self.rsa(map))
            }
        } catch {
            throw error as? JOSEError == .weakKey ? .weakKey : .malformedKey
        }
        self.cose = cose
        self.algorithm = algorithm
    }

    /// A point on P-256, uncompressed.
    private static func p256(_ map: CBORValue) throws -> P256.Signing.PublicKey {
        guard map[1]?.integer == 2, map[-1]?.integer == 1, let x = map[-2]?.bytes, x.count == 32,
            let y = map[-3]?.bytes, y.count == 32
        else { throw WebAuthnError.malformedKey }
        return try P256.Signing.PublicKey(rawRepresentation: x + y)
    }

    private static func ed25519(_ map: CBORValue) throws -> JWSPublicKey {
        guard map[1]?.integer == 1, map[-1]?.integer == 6, let x = map[-2]?.bytes else {
            throw WebAuthnError.malformedKey
        }
        return try JWSPublicKey(ed25519: x)
    }

    /// An RSA key.
    ///
    /// Spec: RFC 8230 §4.
    private static func rsa(_ map: CBORValue) throws -> RSAPublicKey {
        guard map[1]?.integer == 3, let modulus = map[-1]?.bytes, let exponent = map[-2]?.bytes else {
            throw WebAuthnError.malformedKey
        }
        return try RSAPublicKey(modulus: modulus, exponent: exponent)
    }

    /// Whether this key made the signature for the input.
    ///
    /// A signature on P-256 is in DER here. Spec: WebAuthn Level 3 §6.5.5.
    func isValid(_ signature: [UInt8], for input: [UInt8]) -> Bool {
        guard case .p256(let key) = key else { return key.isValid(signature, for: input) }
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: input)
    }
}
