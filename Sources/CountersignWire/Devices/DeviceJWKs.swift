package import Encodings
package import JOSE
package import OpenPGP

/// Why keys are not acceptable for a device.
package enum DeviceJWKRefusal: Error, Equatable, Sendable {
    /// The key of this purpose is not a public key of a supported kind, or is too weak.
    case key(DeviceJWKs.Role, JOSEError)
    /// The key of this purpose has no `kid` of 1 to 128 octets.
    case keyID(DeviceJWKs.Role)
    /// The two keys have the same `kid`.
    case sameKeyID
    /// The two keys are the same key.
    case sameKey
}

/// The keys of a device that signs its answers as JWTs, by their purpose.
///
/// Spec: docs/protocol/jwk-devices.md, *Keys*.
public struct DeviceJWKs: Sendable {
    /// What the signature of a key shows; the words are those of the claim `keyType`.
    package enum Role: String, CaseIterable, Sendable {
        /// Possession of the device.
        case proofOfPossession
        /// The user's biometric, which alone unlocks the key.
        case userVerification

        /// The method that an approval by the key proves.
        package var method: AnswerMethod {
            switch self {
            case .proofOfPossession: .confirm
            case .userVerification: .biometric
            }
        }
    }

    /// The algorithms of the keys that a device may have.
    package static let algorithms: Set<JWSAlgorithm> = [.es256, .rs256, .edDSA]
    /// The most octets that the name of a key may have.
    private static let longestKeyID = 128

    /// The key that every device has.
    package let proofOfPossession: JWK
    /// The key that the user's biometric unlocks; nil if there is none.
    package let userVerification: JWK?

    /// Reads the keys that a device brings.
    package init(
        proofOfPossession: JSONValue, userVerification: JSONValue? = nil
    ) throws(DeviceJWKRefusal) {
        let possession = try Self.key(proofOfPossession, .proofOfPossession)
        var verification: JWK?
        if let userVerification {
            let key = try Self.key(userVerification, .userVerification)
            guard !Self.isSame(key.keyID, possession.keyID) else { throw .sameKeyID }
            // Possession alone could otherwise pass for the user's biometric.
            // check: DeviceJWKTests.sameKey
            guard !key.thumbprint.hasSameBytes(as: possession.thumbprint) else { throw .sameKey }
            verification = key
        }
        self.init(possession, verification)
    }

    private init(_ proofOfPossession: JWK, _ userVerification: JWK?) {
        self.proofOfPossession = proofOfPossession
        self.userVerification = userVerification
    }

    private static func key(_ value: JSONValue, _ role: Role) throws(DeviceJWKRefusal) -> JWK {
        let key: JWK
        do { key = try JWK(value) } catch { throw .key(role, error) }
        guard algorithms.contains(key.publicKey.algorithm) else { throw .key(role, .unsupportedKey) }
        guard let name = key.keyID, (1...longestKeyID).contains(name.utf8.count) else { throw .keyID(role) }
        return key
    }

    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return false }
        return one.hasSameBytes(as: other)
    }

    /// The same keys without the one that the user's biometric unlocks.
    package var withoutUserVerification: DeviceJWKs { DeviceJWKs(proofOfPossession, nil) }

    /// The same key of possession, and another one for the user's biometric.
    package func setting(userVerification: JSONValue) throws(DeviceJWKRefusal) -> DeviceJWKs {
        try DeviceJWKs(proofOfPossession: proofOfPossession.json, userVerification: userVerification)
    }

    /// The key of a purpose; nil if there is none.
    package func key(_ role: Role) -> JWK? {
        switch role {
        case .proofOfPossession: proofOfPossession
        case .userVerification: userVerification
        }
    }

    /// The keys that are there.
    package var all: [JWK] { Role.allCases.compactMap(key) }

    /// The purpose of one of the keys; nil for another key.
    package func role(of key: JWK) -> Role? {
        Role.allCases.first { self.key($0)?.thumbprint.hasSameBytes(as: key.thumbprint) == true }
    }

    /// The SHA-256 thumbprints of the keys, each of which is enrolled once.
    ///
    /// Spec: RFC 7638 §3.
    package var thumbprints: [[UInt8]] { all.map(Self.thumbprint) }

    private static func thumbprint(of key: JWK) -> [UInt8] {
        guard let bytes = Base64URL.decode(key.thumbprint) else { preconditionFailure("a thumbprint is base64url") }
        return bytes
    }

    /// What names the device's key in the place of a certificate's fingerprint: the first 20 octets of the thumbprint of
    /// its proof of possession.
    package var fingerprint: Fingerprint {
        guard let fingerprint = Fingerprint(bytes: Self.thumbprint(of: proofOfPossession).prefix(20)) else {
            preconditionFailure("a thumbprint has 32 bytes")
        }
        return fingerprint
    }

    /// The keys as JSON, as they are stored, and served beside an answer.
    package var json: JSONValue {
        .members([
            Role.proofOfPossession.rawValue: proofOfPossession.json,
            Role.userVerification.rawValue: userVerification?.json,
        ])
    }

    /// Reads ``json``; nil if it is malformed.
    package init?(_ json: JSONValue) {
        guard let possession = json[Role.proofOfPossession.rawValue],
            let keys = try? DeviceJWKs(
                proofOfPossession: possession, userVerification: json[Role.userVerification.rawValue])
        else { return nil }
        self = keys
    }
}
