import Crypto
import Encodings

extension Seeds {
    /// What authenticators send: CBOR, attestation objects and authenticator data for the site of the properties.
    func writePasskeys() throws {
        try put(.cbor, "attestation-object", Self.object(Self.data(0x45, Self.credential())))
        for (name, hex) in Self.cbor { try put(.cbor, name, Hex.decode(hex) ?? []) }
        try writeRegistrations()
        try put(.passkeySignIn, "plain", Self.data(0x05))
        try put(.passkeySignIn, "counted", Self.data(0x05, count: 0xFF))
        try put(.passkeySignIn, "reserved-flags", Self.data(0x27))
        try put(.passkeySignIn, "extensions", Self.data(0x85) + [0xA1, 0x61, 0x61, 0xF5])
        try put(.passkeySignIn, "refused-not-verified", Self.data(0x01))
        try put(.passkeySignIn, "refused-not-present", Self.data(0x04))
        try put(.passkeySignIn, "refused-new-key", Self.data(0x45, Self.credential()))
        try put(.passkeySignIn, "refused-more", Self.data(0x05) + [0])
        try put(.passkeySignIn, "refused-short", Self.data(0x05).dropLast())
        try put(.passkeySignIn, "refused-eligible", Self.data(0x0D))
        try put(.passkeySignIn, "refused-extensions-missing", Self.data(0x85))
    }

    private func writeRegistrations() throws {
        let plain = Self.data(0x45, Self.credential())
        let extensions = [0xA1, 0x6B] + Array("credProtect".utf8) + [0x03]
        let withMore = [0xA6] + Self.key[1..<5] + [0x04, 0x81, 0x02] + Self.key[5...]
        try put(.passkeyRegistration, "none", Self.object(plain))
        try put(.passkeyRegistration, "synced", Self.object(Self.data(0x5D, Self.credential(), count: 7)))
        try put(.passkeyRegistration, "ed25519", Self.object(Self.data(0x45, Self.credential(Self.edwardsKey))))
        try put(.passkeyRegistration, "extensions", Self.object(Self.data(0xC5, Self.credential()) + extensions))
        try put(.passkeyRegistration, "refused-not-verified", Self.object(Self.data(0x41, Self.credential())))
        try put(.passkeyRegistration, "refused-other-format", Self.object(plain, format: "tpm"))
        try put(.passkeyRegistration, "refused-no-key", Self.object(Self.data(0x05)))
        let elsewhere = [UInt8](repeating: 0, count: 32) + plain[32...]
        try put(.passkeyRegistration, "refused-other-site", Self.object(elsewhere))
        try put(.passkeyRegistration, "refused-key-with-more", Self.object(Self.data(0x45, Self.credential(withMore))))
        try put(.passkeyRegistration, "refused-cut-off", Self.object(plain).dropLast(9))
        try put(.passkeyRegistration, "refused-backed-up-alone", Self.object(Self.data(0x55, Self.credential())))
        let unsigned = [0xA2, 0x63] + Array("alg".utf8) + [0x26, 0x63] + Array("sig".utf8) + [0x41, 0x00]
        try put(
            .passkeyRegistration, "refused-packed-unsigned", Self.object(plain, format: "packed", statement: unsigned))
    }

    private static let cbor: KeyValuePairs<String, String> = [
        "key": "a501020326200121582000000000000000000000000000000000000000000000000000000000000000002258200000000000"
            + "000000000000000000000000000000000000000000000000000000",
        "numbers": "8c001718181903e81a000f42401b7fffffffffffffff20373818390100f5f6",
        "four-levels": "a1008181a10020",
        "refused-duplicate-key": "a200010002",
        "refused-other-order": "a220000000",
        "refused-indefinite": "bf0001ff",
        "refused-longer-number": "1800",
        "refused-tag": "c000",
        "refused-float": "f93c00",
        "refused-five-levels": "8181818180",
        "refused-huge-array": "9bffffffffffffffff",
    ]

    /// The public key of the fixed key as a COSE key.
    private static var key: [UInt8] {
        let raw = Array(FixedKeys.json.publicKey.rawRepresentation)
        return [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + raw.prefix(32) + [0x22, 0x58, 0x20]
            + raw.suffix(32)
    }

    /// The public key of RFC 8032 §7.1, test 1.
    private static var edwardsKey: [UInt8] {
        let point = Hex.decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a") ?? []
        return [0xA4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20] + point
    }

    private static func credential(_ key: [UInt8] = key) -> [UInt8] {
        [UInt8](repeating: 0, count: 16) + [0, 20] + Array(1...20) + key
    }

    private static func data(_ flags: UInt8, _ credential: [UInt8] = [], count: UInt8 = 0) -> [UInt8] {
        Array(SHA256.hash(data: Array("login.example.com".utf8))) + [flags, 0, 0, 0, count] + credential
    }

    private static func object(_ data: [UInt8], format: String = "none", statement: [UInt8] = [0xA0]) -> [UInt8] {
        [0xA3, 0x63] + Array("fmt".utf8) + [0x60 + UInt8(format.utf8.count)] + Array(format.utf8) + [0x67]
            + Array("attStmt".utf8) + statement + [0x68] + Array("authData".utf8)
            + [0x58, UInt8(data.count)] + data
    }
}
