public import CountersignWire
import Crypto
public import OpenPGP

/// A vault in memory, for tests: its content is lost when the process ends.
public actor MemoryVault: Vault {
    /// Keys are in software.
    public nonisolated let storage = KeyStorage.software

    private var signingKeys: [EnrollmentID: [KeyRole: P256.Signing.PrivateKey]] = [:]
    private var agreementKeys: [EnrollmentID: [KeyRole: P256.KeyAgreement.PrivateKey]] = [:]
    private var records: [EnrollmentID: [String: [UInt8]]] = [:]
    private var appRecords: [String: [UInt8]] = [:]

    /// An empty vault.
    public init() {}

    /// See ``Vault/makeSigningKey(_:for:)``.
    public func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) -> any SigningKey {
        let key = P256.Signing.PrivateKey()
        signingKeys[enrollment, default: [:]][role] = key
        return key
    }

    /// See ``Vault/makeAgreementKey(_:for:)``.
    public func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) -> any AgreementKey {
        let key = P256.KeyAgreement.PrivateKey()
        agreementKeys[enrollment, default: [:]][role] = key
        return key
    }

    /// See ``Vault/signingKey(_:of:)``.
    public func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) -> (any SigningKey)? {
        signingKeys[enrollment]?[role]
    }

    /// See ``Vault/agreementKey(_:of:)``.
    public func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) -> (any AgreementKey)? {
        agreementKeys[enrollment]?[role]
    }

    /// See ``Vault/removeKey(_:of:)``.
    public func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) {
        signingKeys[enrollment]?[role] = nil
        agreementKeys[enrollment]?[role] = nil
    }

    /// See ``Vault/enrollments(with:)``.
    public func enrollments(with record: String) -> [EnrollmentID] {
        records.filter { $0.value[record] != nil }.keys.sorted()
    }

    /// See ``Vault/records(of:)``.
    public func records(of enrollment: EnrollmentID) -> [String] {
        records[enrollment].map { $0.keys.sorted() } ?? []
    }

    /// See ``Vault/record(_:of:)``.
    public func record(_ name: String, of enrollment: EnrollmentID) -> [UInt8]? {
        records[enrollment]?[name]
    }

    /// See ``Vault/write(_:as:of:)``.
    public func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) {
        records[enrollment, default: [:]][name] = record
    }

    /// See ``Vault/remove(_:of:)``.
    public func remove(_ record: String, of enrollment: EnrollmentID) {
        records[enrollment]?[record] = nil
    }

    /// See ``Vault/removeAll(of:)``.
    public func removeAll(of enrollment: EnrollmentID) {
        signingKeys[enrollment] = nil
        agreementKeys[enrollment] = nil
        records[enrollment] = nil
    }

    /// See ``Vault/appRecord(_:)``.
    public func appRecord(_ name: String) -> [UInt8]? {
        appRecords[name]
    }

    /// See ``Vault/writeAppRecord(_:as:)``.
    public func writeAppRecord(_ record: [UInt8], as name: String) {
        appRecords[name] = record
    }

    /// See ``Vault/removeAppRecord(_:)``.
    public func removeAppRecord(_ name: String) {
        appRecords[name] = nil
    }
}
