public import CountersignWire
public import OpenPGP

/// What a key of an enrollment is for.
public enum KeyRole: String, CaseIterable, Sendable {
    /// Certifies the others; signs receipts.
    case primary
    /// Signs requests.
    case authentication
    /// Opens what the server sends.
    case encryption
    /// Signs what the user's biometrics approve.
    case biometric
    /// Is a part of what the PIN's key is derived from.
    case pin
    /// Takes the place of ``pin`` while the PIN changes, and the other way round.
    case otherPIN = "other-pin"
}

/// Where a device keeps its keys and records.
///
/// Bring one of your own, or use ``FileVault`` or ``MemoryVault``.
///
/// Keys need never leave it: the SDK asks them to sign digests and to compute shared secrets, no more.
public protocol Vault: Sendable {
    /// How it keeps keys, as the server is told.
    var storage: KeyStorage { get }

    /// Makes a signing key, replacing one of the same enrollment and role.
    func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any SigningKey

    /// Makes a key for agreements, replacing one of the same enrollment and role.
    func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any AgreementKey

    /// A signing key, or nil.
    func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any SigningKey)?

    /// A key for agreements, or nil.
    func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any AgreementKey)?

    /// Forgets a key, if there is one.
    func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws

    /// The enrollments that have a record of a name.
    func enrollments(with record: String) async throws -> [EnrollmentID]

    /// The names of an enrollment's records.
    func records(of enrollment: EnrollmentID) async throws -> [String]

    /// A record, or nil.
    func record(_ name: String, of enrollment: EnrollmentID) async throws -> [UInt8]?

    /// Keeps a record; when this returns it survives the end of the process.
    ///
    /// Names are ASCII letters, digits, `-`, `_`.
    func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) async throws

    /// Forgets a record.
    func remove(_ record: String, of enrollment: EnrollmentID) async throws

    /// Forgets everything of an enrollment, its keys first.
    func removeAll(of enrollment: EnrollmentID) async throws
}
