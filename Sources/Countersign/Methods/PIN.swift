import CountersignWire
import Crypto
import CryptoExtras
import Encodings
import OpenPGP

/// A PIN as the user typed it: it cannot be printed, and the SDK does not store it.
public struct PIN: Sendable {
    let digits: Secret<String>

    /// Reads a PIN.
    ///
    /// - Parameter digits: 4 to 32 ASCII digits.
    /// - Throws: ``CountersignError/pinPolicy(_:)`` with `PINViolation.length` for anything else.
    public init(_ digits: String) throws(CountersignError) {
        guard PINPolicy.isPIN(digits) else { throw .pinPolicy(.length) }
        self.digits = Secret(digits)
    }
}

/// The data that a device stores for a PIN; they do not help to test a guess.
///
/// Spec: docs/protocol/methods.md, *Setting a PIN*.
struct StoredPIN: Hashable, Sendable {
    /// The name of the vault's record.
    static let record = "pin"
    private static let version: Int64 = 1
    private static let saltLength = 32

    /// The vault's key from which the PIN's key is derived.
    let role: KeyRole
    /// The salt of scrypt and of HKDF.
    let salt: [UInt8]
    /// A point whose private half nobody has, in the format of X9.63.
    let point: [UInt8]
    /// The binary logarithm of scrypt's cost.
    let cost: Int
    /// When the key was made; its fingerprint depends on this time.
    let createdAt: UnixSeconds

    init(role: KeyRole, salt: [UInt8], point: [UInt8], cost: Int, createdAt: UnixSeconds) {
        self.role = role
        self.salt = salt
        self.point = point
        self.cost = cost
        self.createdAt = createdAt
    }

    /// The data for a new PIN.
    init(role: KeyRole, cost: Int, at time: UnixSeconds) {
        self.init(
            role: role, salt: SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) },
            point: Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation), cost: cost, createdAt: time)
    }

    var json: JSONValue {
        .members([
            "v": .integer(Self.version), "role": .string(role.rawValue), "salt": .string(Base64.encode(salt)),
            "point": .string(Base64.encode(point)), "cost": .integer(Int64(cost)),
            "created_at": .integer(Int64(createdAt)),
        ])
    }

    init?(_ json: JSONValue) {
        guard json["v"] == .integer(Self.version),
            let role = json["role"]?.string.flatMap(KeyRole.init(rawValue:)),
            let salt = json["salt"]?.string.flatMap({ Base64.decode($0) }), salt.count == Self.saltLength,
            let point = json["point"]?.string.flatMap({ Base64.decode($0) }),
            let cost = json["cost"]?.integer, (1...30).contains(cost), let createdAt = json["created_at"]?.integer
        else { return nil }
        self.init(
            role: role, salt: salt, point: point, cost: Int(cost), createdAt: UnixSeconds(clamping: createdAt))
    }

    /// The key derived from a PIN.
    ///
    /// Each PIN gives another key, and nothing tells which is the right one. The derivation takes as long as scrypt
    /// takes.
    ///
    /// - Parameters:
    ///   - pin: the PIN.
    ///   - key: the vault's key of ``role``.
    ///   - primary: the fingerprint of the device's primary key.
    func signingKey(
        of pin: PIN, with key: any AgreementKey, primary: Fingerprint
    ) async throws -> SigningKeyPair {
        let peer = try P256.KeyAgreement.PublicKey(x963Representation: point)
        let secret = try await key.sharedSecret(with: peer).withUnsafeBytes { Array($0) }
        let stretched = try KDF.Scrypt.deriveKey(
            from: Array(pin.digits.reveal().utf8), salt: salt, outputByteCount: 32, rounds: 1 << cost, blockSize: 8,
            parallelism: 1
        ).withUnsafeBytes { Array($0) }
        let material = SymmetricKey(data: secret + stretched)
        for counter in UInt8.min...UInt8.max {
            let scalar = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: material, salt: salt,
                info: Array("countersign pin v1".utf8) + primary.bytes + [counter], outputByteCount: 32)
            // Only numbers from 1 to the order of the curve are keys; in the rare other case the next number is tried.
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: scalar.withUnsafeBytes { Array($0) }) {
                return SigningKeyPair(key, createdAt: createdAt)
            }
        }
        throw CryptoKitError.incorrectParameterSize
    }
}
