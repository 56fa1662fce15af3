import CountersignWire
import Crypto
import Encodings
import JOSE
import OpenPGP
import Testing

@Suite("The JWKs of a device")
struct DeviceJWKTests {
    private static let p256 = PrivateJWK(P256.Signing.PrivateKey(), keyID: "possession").publicKey
    private static let ed25519 = PrivateJWK(Curve25519.Signing.PrivateKey(), keyID: "verification").publicKey

    private func with(_ name: String, _ value: JSONValue?, _ key: JWK = p256) -> JSONValue {
        var object = key.json.object ?? [:]
        object[name] = value
        return .object(object)
    }

    /// An RSA key of this many bits, of which nobody knows the factors.
    private func rsa(bits: Int, exponent: [UInt8] = [1, 0, 1], algorithm: String? = nil) -> JSONValue {
        let modulus = [UInt8](repeating: 0xC1, count: bits / 8)
        return .members([
            "kty": "RSA", "kid": "rsa", "n": .string(Base64URL.encode(modulus)),
            "e": .string(Base64URL.encode(exponent)), "alg": algorithm.map { .string($0) },
        ])
    }

    @Test("P-256, Ed25519 and RSA keys are read, with what vendors add to them, and are written as they are read")
    func kinds() throws {
        for possession in [with("okta:kpr", "HARDWARE"), with("alg", nil), Self.ed25519.json, rsa(bits: 2048)] {
            let keys = try DeviceJWKs(proofOfPossession: possession)
            #expect(keys.userVerification == nil && keys.all.count == 1)
            #expect(DeviceJWKs(keys.json)?.json == keys.json)
            #expect(keys.role(of: keys.proofOfPossession) == .proofOfPossession)
        }
        let both = try DeviceJWKs(proofOfPossession: Self.p256.json, userVerification: Self.ed25519.json)
        #expect(DeviceJWKs(both.json)?.json == both.json)
        #expect(both.role(of: Self.ed25519) == .userVerification && both.thumbprints.count == 2)
        #expect(both.withoutUserVerification.all.count == 1)
        let thumbprint = try #require(Base64URL.decode(Self.p256.thumbprint))
        #expect(both.fingerprint.bytes == Array(thumbprint.prefix(20)))
        #expect(Credential.jwk(both).assurance == .challenge && Credential.jwk(both).fingerprint == both.fingerprint)
        #expect(Evidence.jwt("token", keys: []).assurance == .challenge)
    }

    @Test("RFC 7518 §3.3, RFC 8725 §3.5: weak, private and other keys are refused, each by its reason")
    func refused() {
        let secret = Base64URL.encode([UInt8](repeating: 1, count: 32))
        for (key, error) in [
            (rsa(bits: 1024), .weakKey), (rsa(bits: 2048, exponent: [3]), .weakKey),
            (rsa(bits: 16384), .unsupportedKey), (rsa(bits: 2048, algorithm: "PS256"), .unsupportedKey),
            (with("d", .string(secret)), .privateKey), (with("use", "enc"), .unsupportedKey),
            (with("alg", "RS256"), .unsupportedKey), (with("key_ops", ["sign"]), .unsupportedKey),
            (with("crv", "P-384"), .unsupportedKey), (with("kty", "oct"), .unsupportedKey),
            (with("y", .string(Base64URL.encode([UInt8](repeating: 7, count: 32)))), .malformed),
            (with("x", .string(Base64URL.encode([UInt8](repeating: 0, count: 32))), Self.ed25519), .weakKey),
            (.string("key"), .malformed),
        ] as [(JSONValue, JOSEError)] {
            #expect(throws: DeviceJWKRefusal.key(.proofOfPossession, error), "\(key)") {
                try DeviceJWKs(proofOfPossession: key)
            }
            #expect(throws: DeviceJWKRefusal.key(.userVerification, error), "\(key)") {
                try DeviceJWKs(proofOfPossession: rsa(bits: 2048), userVerification: key)
            }
        }
    }

    @Test("Each key has a name of its own, of at most 128 octets")
    func names() throws {
        for name in [nil, "", .string(String(repeating: "a", count: 129))] as [JSONValue?] {
            #expect(throws: DeviceJWKRefusal.keyID(.proofOfPossession)) {
                try DeviceJWKs(proofOfPossession: with("kid", name))
            }
        }
        #expect(throws: DeviceJWKRefusal.key(.proofOfPossession, .malformed)) {
            try DeviceJWKs(proofOfPossession: with("kid", 1))
        }
        _ = try DeviceJWKs(proofOfPossession: with("kid", .string(String(repeating: "a", count: 128))))
        #expect(throws: DeviceJWKRefusal.sameKeyID) {
            try DeviceJWKs(
                proofOfPossession: Self.p256.json, userVerification: with("kid", "possession", Self.ed25519))
        }
    }

    @Test("Possession cannot pass for the user's biometric: one key has one purpose, under whatever name")
    func sameKey() {
        #expect(throws: DeviceJWKRefusal.sameKey) {
            try DeviceJWKs(proofOfPossession: Self.p256.json, userVerification: with("kid", "other"))
        }
    }
}
