public import CountersignWire
public import OpenPGP

/// The purpose of an enrollment's key.
public enum KeyRole: String, CaseIterable, Sendable {
    /// Certifies the other keys; signs receipts.
    case primary
    /// Signs requests.
    case authentication
    /// Opens the server's messages.
    case encryption
    /// Signs after a check of the user's biometrics.
    case biometric
    /// One of the inputs from which the PIN's key is derived.
    case pin
    /// Replaces ``pin`` at a change of the PIN, and is replaced by it at the next change.
    case otherPIN = "other-pin"
}

/// Stores a device's keys and records.
///
/// Implement your own, or use ``HardwareVault``, ``FileVault`` or ``MemoryVault``.
///
/// Private keys never need to leave the vault: the SDK only asks it to sign digests and to compute shared secrets.
public protocol Vault: Sendable {
    /// How the vault keeps its keys, as the server is to record.
    var storage: KeyStorage { get }

    /// Makes a signing key, and replaces an earlier one of the same enrollment and role.
    func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any SigningKey

    /// Makes a key for key agreement, and replaces an earlier one of the same enrollment and role.
    func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any AgreementKey

    /// A signing key; nil if there is none.
    func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any SigningKey)?

    /// A key for key agreement; nil if there is none.
    func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any AgreementKey)?

    /// Deletes a key, if there is one.
    func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws

    /// The enrollments that have a record of this name.
    func enrollments(with record: String) async throws -> [EnrollmentID]

    /// The names of an enrollment's records.
    func records(of enrollment: EnrollmentID) async throws -> [String]

    /// A record; nil if there is none.
    func record(_ name: String, of enrollment: EnrollmentID) async throws -> [UInt8]?

    /// Stores a record durably: when this returns, the record survives the end of the process.
    ///
    /// Names consist of ASCII letters, digits, `-` and `_`.
    func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) async throws

    /// Deletes a record.
    func remove(_ record: String, of enrollment: EnrollmentID) async throws

    /// Deletes everything of an enrollment, its keys first.
    func removeAll(of enrollment: EnrollmentID) async throws

    /// A record of the app, which belongs to no enrollment, such as the tokens of a sign-in; nil if there is none.
    func appRecord(_ name: String) async throws -> [UInt8]?

    /// Stores a record of the app, durably and as well protected as those of enrollments.
    ///
    /// Names consist of ASCII letters, digits, `-` and `_`.
    func writeAppRecord(_ record: [UInt8], as name: String) async throws

    /// Deletes a record of the app, if there is one.
    func removeAppRecord(_ name: String) async throws
}
