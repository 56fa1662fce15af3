import Crypto
import CryptoExtras
import Encodings
import Testing

@testable import WebAuthn

@Suite("WebAuthn Level 3 §6.5.1 and §5.8.5: public keys of passkeys")
struct CredentialPublicKeyTests {
    private static let input: [UInt8] = [1, 2, 3]
    private static let x = CBORValue.bytes(SoftAuthenticator.cosePoint.x)
    private static let y = CBORValue.bytes(SoftAuthenticator.cosePoint.y)

    private static func ed25519(_ key: Curve25519.Signing.PublicKey) -> CBORValue {
        .members([1: 1, 3: -8, -1: 6, -2: .bytes([UInt8](key.rawRepresentation))])
    }

    private static func rsa(_ modulus: [UInt8], _ exponent: [UInt8] = [1, 0, 1]) -> CBORValue {
        .members([1: 3, 3: -257, -1: .bytes(modulus), -2: .bytes(exponent)])
    }

    private func refused(_ key: CBORValue, _ error: WebAuthnError) {
        #expect(throws: error) { try CredentialPublicKey(cose: key.encoded) }
        var authenticator = SoftAuthenticator()
        authenticator.coseKey = key
        #expect(throws: error) { try authenticator.register() }
    }

    @Test("WebAuthn Level 3 §6.5.5: ES256, with its signature in DER")
    func es256() throws {
        let key = try CredentialPublicKey(cose: SoftAuthenticator.coseKey.encoded)
        #expect(key.algorithm == .es256)
        #expect(key.cose == SoftAuthenticator.coseKey.encoded)
        let signature = try SoftAuthenticator.key.signature(for: Self.input)
        #expect(key.isValid([UInt8](signature.derRepresentation), for: Self.input))
        #expect(!key.isValid([UInt8](signature.derRepresentation), for: []))
        #expect(!key.isValid([UInt8](signature.rawRepresentation), for: Self.input))
        #expect(!key.isValid([UInt8](signature.derRepresentation) + [0], for: Self.input))
    }

    @Test("EdDSA on Ed25519")
    func edDSA() throws {
        let own = Curve25519.Signing.PrivateKey()
        let key = try CredentialPublicKey(cose: Self.ed25519(own.publicKey).encoded)
        #expect(key.algorithm == .edDSA)
        let signature = [UInt8](try own.signature(for: Self.input))
        #expect(key.isValid(signature, for: Self.input))
        #expect(!key.isValid(signature, for: []))
        #expect(!key.isValid(signature.dropLast(), for: Self.input))
    }

    @Test("RFC 8230 §4 and RFC 7518 §3.3: RS256, not with a weak key")
    func rs256() throws {
        let own = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let numbers = try own.publicKey.getKeyPrimitives()
        let modulus = [UInt8](numbers.modulus)
        let key = try CredentialPublicKey(cose: Self.rsa(modulus, [UInt8](numbers.publicExponent)).encoded)
        #expect(key.algorithm == .rs256)
        let digest = SHA256.hash(data: Self.input)
        let signature = [UInt8](try own.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
        #expect(key.isValid(signature, for: Self.input))
        #expect(!key.isValid(signature, for: []))
        let other = [UInt8](try own.signature(for: digest, padding: .PSS).rawRepresentation)
        #expect(!key.isValid(other, for: Self.input))
        refused(Self.rsa([0] + modulus), .malformedKey)
        refused(Self.rsa(modulus, []), .malformedKey)
        refused(Self.rsa(modulus, [3]), .weakKey)
        refused(Self.rsa([UInt8](repeating: 0xFF, count: 128)), .weakKey)
    }

    @Test(
        "WebAuthn Level 3 §7.1, step 20: an algorithm that was not offered is refused",
        arguments: [-35, -36, -47, -37, -9, -19, -65535, 7, 0])
    func algorithms(number: Int64) {
        refused(.members([1: 2, 3: .integer(number), -1: 1, -2: Self.x, -3: Self.y]), .unsupportedAlgorithm)
    }

    @Test("Keys of another form are refused")
    func malformed() {
        let short = CBORValue.bytes([UInt8](repeating: 1, count: 31))
        for key in [
            1, .map([]),
            // Without an algorithm, and with one by name.
            .members([1: 2, -1: 1, -2: Self.x, -3: Self.y]),
            .members([1: 2, 3: "ES256", -1: 1, -2: Self.x, -3: Self.y]),
            // Another kind or curve.
            .members([1: 1, 3: -7, -1: 1, -2: Self.x, -3: Self.y]),
            .members([1: 2, 3: -7, -1: 2, -2: Self.x, -3: Self.y]),
            // Coordinates of another length, a compressed point, one that is not on the curve.
            .members([1: 2, 3: -7, -1: 1, -2: short, -3: Self.y]),
            .members([1: 2, 3: -7, -1: 1, -2: Self.x, -3: short]),
            .members([1: 2, 3: -7, -1: 1, -2: Self.x, -3: .bool(true)]),
            .members([1: 2, 3: -7, -1: 1, -2: Self.y, -3: Self.x]),
            // Ed25519 as another kind, on another curve, of another length, and in a second encoding.
            .members([1: 2, 3: -8, -1: 6, -2: Self.x]), .members([1: 1, 3: -8, -1: 7, -2: Self.x]),
            .members([1: 1, 3: -8, -1: 6, -2: short]),
            .members([1: 1, 3: -8, -1: 6, -2: .bytes([UInt8](repeating: 0xFF, count: 32))]),
            // RSA as another kind, and without its numbers.
            .members([1: 2, 3: -257, -1: .bytes([1]), -2: .bytes([1])]),
            .members([1: 3, 3: -257, -1: 1, -2: .bytes([1])]),
        ] as [CBORValue] {
            refused(key, .malformedKey)
        }
    }

    @Test("A member that the algorithm does not need is refused, and one that is missing")
    func members() {
        refused(.members([1: 2, 3: -7, 4: .array([2]), -1: 1, -2: Self.x, -3: Self.y]), .malformedKey)
        refused(.members([1: 2, 3: -7, -1: 1, -2: Self.x, -3: Self.y, -4: .bytes([1])]), .malformedKey)
        refused(.members([1: 2, 3: -7, -1: 1, -2: Self.x]), .malformedKey)
        let own = Curve25519.Signing.PrivateKey()
        refused(
            .members([1: 1, 3: -8, -1: 6, -2: .bytes([UInt8](own.publicKey.rawRepresentation)), -3: Self.y]),
            .malformedKey)
    }

    @Test("RFC 8725 §3.5: a point of small order is refused")
    func smallOrder() {
        let zero = [UInt8](repeating: 0, count: 32)
        refused(.members([1: 1, 3: -8, -1: 6, -2: .bytes(zero)]), .weakKey)
        refused(.members([1: 1, 3: -8, -1: 6, -2: .bytes([1] + zero.dropLast())]), .weakKey)
    }

    @Test("CBOR in another form is refused")
    func form() {
        var bytes = SoftAuthenticator.coseKey.encoded
        #expect(throws: WebAuthnError.cbor(.trailingData)) { try CredentialPublicKey(cose: bytes + [0]) }
        bytes[1] = 4
        #expect(throws: WebAuthnError.cbor(.keyOrder)) { try CredentialPublicKey(cose: bytes) }
        #expect(throws: WebAuthnError.cbor(.endsEarly)) { try CredentialPublicKey(cose: []) }
    }
}
