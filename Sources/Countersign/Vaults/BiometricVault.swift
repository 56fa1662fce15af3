public import CountersignWire
import Crypto
public import OpenPGP

/// Why a biometric check failed; the cases are those that an app must distinguish.
public enum BiometricFailure: String, Error, CaseIterable, Sendable {
    /// This device has no biometrics, or the user has not set them up.
    case unavailable
    /// The biometric was not recognised.
    case failed
    /// The user has closed the prompt.
    case cancelled
    /// The user wants to type the PIN instead.
    case fallback
    /// The biometric was not recognised too often: the system wants its passcode first.
    case lockout
    /// The biometrics have changed since the registration, and the key is lost: register anew.
    case changed
    /// No biometric is registered for this enrollment.
    case notRegistered = "not_registered"
}

/// A vault that can hold a key which only the user's biometrics unlock.
///
/// Each signature with the key shows a prompt, and throws ``BiometricFailure`` when the check fails.
/// ``Vault/removeKey(_:of:)`` of ``KeyRole/biometric`` deletes the key. Spec: docs/protocol/methods.md, *Biometrics*.
public protocol BiometricVault: Vault {
    /// Makes the key, and replaces an earlier one of the same enrollment.
    ///
    /// - Parameters:
    ///   - enrollment: the key's enrollment.
    ///   - prompt: the text that the system shows when the key signs.
    func makeBiometricKey(for enrollment: EnrollmentID, prompt: String) async throws -> any SigningKey

    /// The key; nil if there is none.
    func biometricKey(of enrollment: EnrollmentID, prompt: String) async throws -> (any SigningKey)?
}

/// Simulated biometrics, for tests and for the terminal phone: nothing protects the key.
public struct InsecureSimulatedBiometrics: BiometricVault {
    /// The simulated user's reaction; nil to be recognised.
    public typealias User = @Sendable (_ prompt: String) async -> BiometricFailure?

    private struct Key: SigningKey {
        let key: any SigningKey
        let prompt: String
        let user: User

        var publicKey: P256.Signing.PublicKey { key.publicKey }

        func signature(for digest: SHA256Digest) async throws -> P256.Signing.ECDSASignature {
            if let failure = await user(prompt) { throw failure }
            return try await key.signature(for: digest)
        }
    }

    private let base: any Vault
    private let user: User

    /// How the vault below keeps its keys.
    public var storage: KeyStorage { base.storage }

    /// Puts simulated biometrics before a vault.
    ///
    /// - Parameters:
    ///   - base: stores everything, including the key that biometrics should protect.
    ///   - user: returns the simulated user's reaction.
    public init(before base: any Vault, user: @escaping User) {
        self.base = base
        self.user = user
    }

    /// See ``BiometricVault/makeBiometricKey(for:prompt:)``.
    public func makeBiometricKey(for enrollment: EnrollmentID, prompt: String) async throws -> any SigningKey {
        Key(key: try await base.makeSigningKey(.biometric, for: enrollment), prompt: prompt, user: user)
    }

    /// See ``BiometricVault/biometricKey(of:prompt:)``.
    public func biometricKey(of enrollment: EnrollmentID, prompt: String) async throws -> (any SigningKey)? {
        try await base.signingKey(.biometric, of: enrollment).map { Key(key: $0, prompt: prompt, user: user) }
    }

    /// See ``Vault/makeSigningKey(_:for:)``.
    public func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any SigningKey {
        try await base.makeSigningKey(role, for: enrollment)
    }

    /// See ``Vault/makeAgreementKey(_:for:)``.
    public func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any AgreementKey {
        try await base.makeAgreementKey(role, for: enrollment)
    }

    /// See ``Vault/signingKey(_:of:)``.
    public func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any SigningKey)? {
        try await base.signingKey(role, of: enrollment)
    }

    /// See ``Vault/agreementKey(_:of:)``.
    public func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any AgreementKey)? {
        try await base.agreementKey(role, of: enrollment)
    }

    /// See ``Vault/removeKey(_:of:)``.
    public func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws {
        try await base.removeKey(role, of: enrollment)
    }

    /// See ``Vault/enrollments(with:)``.
    public func enrollments(with record: String) async throws -> [EnrollmentID] {
        try await base.enrollments(with: record)
    }

    /// See ``Vault/records(of:)``.
    public func records(of enrollment: EnrollmentID) async throws -> [String] {
        try await base.records(of: enrollment)
    }

    /// See ``Vault/record(_:of:)``.
    public func record(_ name: String, of enrollment: EnrollmentID) async throws -> [UInt8]? {
        try await base.record(name, of: enrollment)
    }

    /// See ``Vault/write(_:as:of:)``.
    public func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) async throws {
        try await base.write(record, as: name, of: enrollment)
    }

    /// See ``Vault/remove(_:of:)``.
    public func remove(_ record: String, of enrollment: EnrollmentID) async throws {
        try await base.remove(record, of: enrollment)
    }

    /// See ``Vault/removeAll(of:)``.
    public func removeAll(of enrollment: EnrollmentID) async throws {
        try await base.removeAll(of: enrollment)
    }

    /// See ``Vault/appRecord(_:)``.
    public func appRecord(_ name: String) async throws -> [UInt8]? {
        try await base.appRecord(name)
    }

    /// See ``Vault/writeAppRecord(_:as:)``.
    public func writeAppRecord(_ record: [UInt8], as name: String) async throws {
        try await base.writeAppRecord(record, as: name)
    }

    /// See ``Vault/removeAppRecord(_:)``.
    public func removeAppRecord(_ name: String) async throws {
        try await base.removeAppRecord(name)
    }
}
