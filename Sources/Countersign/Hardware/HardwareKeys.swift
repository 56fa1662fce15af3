public import Crypto
public import OpenPGP

/// What must hold for a key in hardware to be used.
public enum KeyProtection: Hashable, Sendable {
    /// The device was unlocked once since it started: so a challenge is fetched and opened while the device is locked.
    case afterFirstUnlock
    /// The device is unlocked.
    case whenUnlocked
    /// The user's biometrics are recognised.
    case biometrics(BiometricInvalidation)
}

/// Who ends a key that biometrics unlock when the biometrics change.
public enum BiometricInvalidation: String, CaseIterable, Sendable {
    /// The hardware: the key is lost.
    case bySystem = "system"
    /// The vault, which compares the state of the biometrics; the hardware would still use the key.
    ///
    /// The state may also change with a new major version of the system; the user then registers anew.
    case byApp = "app"
}

/// When Apple's systems use a key, on this device alone; each is named as `kSecAttrAccessible…ThisDeviceOnly` is.
public enum KeyAccessibility: Hashable, Sendable {
    /// From the first unlock on.
    case afterFirstUnlock
    /// While the device is unlocked.
    case whenUnlocked
    /// While it is unlocked and has a passcode: without one, the key is lost.
    case whenPasscodeSet
}

/// Which biometrics unlock a key of Apple's systems: `biometryCurrentSet` or `biometryAny`.
public enum KeyBiometry: Hashable, Sendable {
    /// Those of the moment at which it was made.
    case currentSet
    /// Any.
    case anySet
}

extension KeyProtection {
    /// When Apple's systems use the key.
    public var accessibility: KeyAccessibility {
        switch self {
        case .afterFirstUnlock: .afterFirstUnlock
        case .whenUnlocked: .whenUnlocked
        case .biometrics: .whenPasscodeSet
        }
    }

    /// Which biometrics unlock it; nil for none.
    public var biometry: KeyBiometry? {
        switch self {
        case .afterFirstUnlock, .whenUnlocked: nil
        case .biometrics(.bySystem): .currentSet
        case .biometrics(.byApp): .anySet
        }
    }
}

extension KeyRole {
    /// What must hold for a key of this role to be used.
    ///
    /// Only the keys that fetch and open challenges work while the device is locked: no answer is signed then.
    public func protection(_ invalidation: BiometricInvalidation) -> KeyProtection {
        switch self {
        case .authentication, .encryption: .afterFirstUnlock
        case .primary, .pin, .otherPIN: .whenUnlocked
        case .biometric: .biometrics(invalidation)
        }
    }
}

/// The texts of a system's prompt for biometrics.
public struct BiometricPrompt: Hashable, Sendable {
    /// What the user is asked for.
    public let text: String
    /// The title of the button by which the user chooses the PIN instead; nil for the system's own, empty for no button.
    public let fallbackTitle: String?

    /// A prompt of these texts.
    public init(_ text: String, fallbackTitle: String?) {
        self.text = text
        self.fallbackTitle = fallbackTitle
    }
}

/// Hardware that makes P-256 keys and never releases them.
///
/// A key is found again by its reference: bytes that are useless without the hardware that made them.
public protocol HardwareKeys: Sendable {
    /// Whether this device has the hardware.
    var isAvailable: Bool { get }

    /// Makes a key that signs, and returns its reference.
    func makeSigningKey(_ protection: KeyProtection) throws -> [UInt8]

    /// Makes a key for key agreement, and returns its reference.
    func makeAgreementKey(_ protection: KeyProtection) throws -> [UInt8]

    /// The signing key of a reference; one that biometrics unlock is only asked for its public half.
    func signingKey(_ reference: [UInt8]) throws -> any SigningKey

    /// The agreement key of a reference.
    func agreementKey(_ reference: [UInt8]) throws -> any AgreementKey

    /// The state of the user's biometrics, which differs after they have changed; nil if the system does not say.
    func biometrics() throws(BiometricFailure) -> [UInt8]?

    /// Shows the prompt, then signs with a key that biometrics unlock.
    ///
    /// - Throws: ``BiometricFailure`` when the check fails, any other error when the hardware does not use the key.
    func signature(
        for digest: SHA256Digest, with reference: [UInt8], after prompt: BiometricPrompt
    ) async throws -> P256.Signing.ECDSASignature
}

/// A system's store of small secret items, such as a keychain.
///
/// Each item is readable from the first unlock of the device on, and leaves it in no backup.
public protocol ItemStore: Sendable {
    /// An item; nil if there is none.
    func item(_ name: String) throws -> [UInt8]?

    /// Stores an item, and replaces an earlier one of the same name.
    func write(_ item: [UInt8], as name: String) throws

    /// Deletes an item, if there is one.
    func remove(_ name: String) throws

    /// The names of all items.
    func names() throws -> [String]
}
