public import CountersignWire
import Crypto
import Encodings
import Foundation
public import OpenPGP

/// Whether keys may be in software on a device without the hardware, such as a simulator.
///
/// A server is told with the enrollment, and asks such a device for nothing that needs hardware.
public enum SoftwareKeys: Sendable {
    /// The vault cannot be opened there.
    case refused
    /// Keys are made in software there; biometrics unlock none.
    case allowed
}

/// A vault whose keys are in the device's hardware, and whose records are items of the system's store.
///
/// On Apple's systems make it by `.secureEnclave(…)` of the module `CountersignApple`. An app and its extensions may
/// use the same store at once: each item is replaced as a whole.
public actor HardwareVault: BiometricVault {
    /// Why the vault cannot be used.
    public enum Failure: Error, Equatable, Sendable {
        /// The device has no hardware for keys, and keys in software were not allowed.
        case noHardware
        /// A newer version of the app has used the store.
        case newerVersion
        /// An item cannot be read.
        case damaged(String)
    }

    /// Brings the items from one version of their layout to the next.
    typealias Step = @Sendable (any ItemStore) throws -> Void

    private static let version = "version"
    private static let keyPrefix = "key-"
    /// The place of the app's own records; it is not the id of an enrollment.
    private static let appPlace = "app"
    /// Each version's step to the next; the first version is 1.
    private static let steps: [Step] = []

    /// Where new keys are made.
    public nonisolated let storage: KeyStorage
    /// How the app came to the items; nil if nothing tells.
    public nonisolated let arrival: Arrival?

    private let items: any ItemStore
    private let hardware: any HardwareKeys
    private let invalidation: BiometricInvalidation
    private let fallbackTitle: String?

    /// Opens a vault, or makes a new one.
    ///
    /// - Parameters:
    ///   - items: stores records, and the references of keys.
    ///   - hardware: makes and uses keys.
    ///   - softwareKeys: whether keys may be in software where the hardware is missing.
    ///   - invalidation: who ends a key that biometrics unlock when they change.
    ///   - fallbackTitle: the title of the button for the PIN in the prompt for biometrics; nil for the system's own.
    ///   - installation: tells a new installation of the app from the one that made the items; nil in an extension that
    ///     shares no files with the app.
    /// - Throws: ``Failure``, or the error of the store.
    public init(
        items: any ItemStore, hardware: any HardwareKeys, softwareKeys: SoftwareKeys = .refused,
        invalidation: BiometricInvalidation = .bySystem, fallbackTitle: String? = nil,
        installation: Installation? = nil
    ) throws {
        try self.init(
            items: items, hardware: hardware, softwareKeys: softwareKeys, invalidation: invalidation,
            fallbackTitle: fallbackTitle, installation: installation, steps: Self.steps)
    }

    init(
        items: any ItemStore, hardware: any HardwareKeys, softwareKeys: SoftwareKeys,
        invalidation: BiometricInvalidation, fallbackTitle: String?, installation: Installation?, steps: [Step]
    ) throws {
        if hardware.isAvailable {
            storage = .enclave
        } else {
            guard case .allowed = softwareKeys else { throw Failure.noHardware }
            storage = .software
        }
        self.items = items
        self.hardware = hardware
        self.invalidation = invalidation
        self.fallbackTitle = fallbackTitle
        arrival = try installation?.arrive(at: items)
        try Self.migrate(items, by: steps)
    }

    /// Brings the items to the newest version, a step at a time; each may run again after a crash.
    private static func migrate(_ items: any ItemStore, by steps: [Step]) throws {
        let newest = steps.count + 1
        var current = newest
        if let item = try items.item(version) {
            guard let number = Int(String(decoding: item, as: UTF8.self)), number > 0 else {
                throw Failure.damaged(version)
            }
            guard number <= newest else { throw Failure.newerVersion }
            current = number
        } else {
            try items.write(Array("\(newest)".utf8), as: version)
        }
        while current < newest {
            try steps[current - 1](items)
            current += 1
            try items.write(Array("\(current)".utf8), as: version)
        }
    }

    /// Deletes everything: the keys and records of all enrollments, and the app's records.
    ///
    /// Opened again, the vault is a new one of the same installation.
    public func wipe() throws {
        try items.wipe(keeping: Installation.item)
    }

    /// See ``Vault/makeSigningKey(_:for:)``.
    public func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) throws -> any SigningKey {
        let stored =
            switch storage {
            case .enclave: StoredKey(.hardware, try hardware.makeSigningKey(role.protection(invalidation)))
            case .software: StoredKey(.software, Array(P256.Signing.PrivateKey().rawRepresentation))
            }
        let key = try signingKey(stored)
        try items.write(stored.encoded, as: Self.name(of: role, enrollment))
        return key
    }

    /// See ``Vault/makeAgreementKey(_:for:)``.
    public func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) throws -> any AgreementKey {
        let stored =
            switch storage {
            case .enclave: StoredKey(.hardware, try hardware.makeAgreementKey(role.protection(invalidation)))
            case .software: StoredKey(.software, Array(P256.KeyAgreement.PrivateKey().rawRepresentation))
            }
        let key = try agreementKey(stored)
        try items.write(stored.encoded, as: Self.name(of: role, enrollment))
        return key
    }

    /// See ``Vault/signingKey(_:of:)``.
    public func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) throws -> (any SigningKey)? {
        // That of biometrics is used after the app's prompt alone, see ``biometricKey(of:prompt:)``.
        guard role != .biometric else { return nil }
        return try storedKey(role, of: enrollment).map(signingKey)
    }

    private func signingKey(_ stored: StoredKey) throws -> any SigningKey {
        switch stored.place {
        case .hardware: try hardware.signingKey(stored.bytes)
        case .software: try P256.Signing.PrivateKey(rawRepresentation: stored.bytes)
        }
    }

    /// See ``Vault/agreementKey(_:of:)``.
    public func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) throws -> (any AgreementKey)? {
        try storedKey(role, of: enrollment).map(agreementKey)
    }

    private func agreementKey(_ stored: StoredKey) throws -> any AgreementKey {
        switch stored.place {
        case .hardware: try hardware.agreementKey(stored.bytes)
        case .software: try P256.KeyAgreement.PrivateKey(rawRepresentation: stored.bytes)
        }
    }

    /// See ``BiometricVault/makeBiometricKey(for:prompt:)``.
    ///
    /// - Throws: ``BiometricFailure/unavailable`` where keys are in software: nothing would protect the key; and where
    ///   the app ends the key, and the system does not say how the biometrics stand.
    public func makeBiometricKey(for enrollment: EnrollmentID, prompt: String) throws -> any SigningKey {
        guard storage == .enclave else { throw BiometricFailure.unavailable }
        let state = try hardware.biometrics()
        guard invalidation == .bySystem || state != nil else { throw BiometricFailure.unavailable }
        let reference = try hardware.makeSigningKey(KeyRole.biometric.protection(invalidation))
        let known = StoredKey.Biometrics(
            publicKey: try hardware.signingKey(reference).publicKey, state: state, invalidation: invalidation)
        let stored = StoredKey(.hardware, reference, biometrics: known)
        try items.write(stored.encoded, as: Self.name(of: .biometric, enrollment))
        return key(reference, known, prompt)
    }

    /// See ``BiometricVault/biometricKey(of:prompt:)``.
    public func biometricKey(of enrollment: EnrollmentID, prompt: String) throws -> (any SigningKey)? {
        guard let stored = try storedKey(.biometric, of: enrollment), let known = stored.biometrics else { return nil }
        return key(stored.bytes, known, prompt)
    }

    private func key(_ reference: [UInt8], _ known: StoredKey.Biometrics, _ prompt: String) -> BiometricKey {
        BiometricKey(
            hardware: hardware, reference: reference, known: known,
            prompt: BiometricPrompt(prompt, fallbackTitle: fallbackTitle))
    }

    /// See ``Vault/removeKey(_:of:)``.
    public func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) throws {
        try items.remove(Self.name(of: role, enrollment))
    }

    /// See ``Vault/enrollments(with:)``.
    public func enrollments(with record: String) throws -> [EnrollmentID] {
        try items.names().compactMap { name in
            let parts = name.split(separator: "/")
            return parts.count == 2 && parts[1] == record ? EnrollmentID(String(parts[0])) : nil
        }.sorted()
    }

    /// See ``Vault/records(of:)``.
    public func records(of enrollment: EnrollmentID) throws -> [String] {
        try names(of: enrollment).filter { !$0.hasPrefix(Self.keyPrefix) }.sorted()
    }

    /// See ``Vault/record(_:of:)``.
    public func record(_ name: String, of enrollment: EnrollmentID) throws -> [UInt8]? {
        try items.item("\(enrollment)/\(name)")
    }

    /// See ``Vault/write(_:as:of:)``.
    public func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) throws {
        try items.write(record, as: "\(enrollment)/\(name)")
    }

    /// See ``Vault/remove(_:of:)``.
    public func remove(_ record: String, of enrollment: EnrollmentID) throws {
        try items.remove("\(enrollment)/\(record)")
    }

    /// See ``Vault/removeAll(of:)``.
    public func removeAll(of enrollment: EnrollmentID) throws {
        for role in KeyRole.allCases { try removeKey(role, of: enrollment) }
        for name in try names(of: enrollment) { try items.remove("\(enrollment)/\(name)") }
    }

    /// See ``Vault/appRecord(_:)``.
    public func appRecord(_ name: String) throws -> [UInt8]? {
        try items.item("\(Self.appPlace)/\(name)")
    }

    /// See ``Vault/writeAppRecord(_:as:)``.
    public func writeAppRecord(_ record: [UInt8], as name: String) throws {
        try items.write(record, as: "\(Self.appPlace)/\(name)")
    }

    /// See ``Vault/removeAppRecord(_:)``.
    public func removeAppRecord(_ name: String) throws {
        try items.remove("\(Self.appPlace)/\(name)")
    }

    private func names(of enrollment: EnrollmentID) throws -> [String] {
        let place = "\(enrollment)/"
        return try items.names().filter { $0.hasPrefix(place) }.map { String($0.dropFirst(place.count)) }
    }

    private func storedKey(_ role: KeyRole, of enrollment: EnrollmentID) throws -> StoredKey? {
        let name = Self.name(of: role, enrollment)
        guard let item = try items.item(name) else { return nil }
        guard let stored = StoredKey(item) else { throw Failure.damaged(name) }
        return stored
    }

    private static func name(of role: KeyRole, _ enrollment: EnrollmentID) -> String {
        "\(enrollment)/\(keyPrefix)\(role.rawValue)"
    }
}
