public import CountersignWire
import Crypto
import Encodings
public import Foundation
public import OpenPGP

/// A vault of files that only their owner can read, each sealed under a wrapping key in the same folder.
///
/// The keys are in software: anybody who copies the whole folder has them. If the device has a secure enclave, use that
/// instead.
///
/// An app and its extensions may use the same folder at once: a file lock keeps their accesses apart.
public actor FileVault: Vault {
    /// A file that cannot be used.
    public struct Damaged: Error, CustomStringConvertible, Sendable {
        /// Which file, and why.
        public let description: String
    }

    /// Keys are in software.
    public nonisolated let storage = KeyStorage.software

    private static let keyPrefix = "key-"
    /// The subfolder of the app's own records; it is not the id of an enrollment.
    private static let appPlace = "app"
    private let folder: URL
    private let wrappingKey: Secret<SymmetricKey>

    /// Opens a vault, or makes a new one.
    ///
    /// - Parameter folder: the vault's folder; made when missing, readable by its owner only.
    /// - Throws: ``Damaged``, or the error of the file system.
    public init(at folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Also if the folder existed before, whoever made it.
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        let file = folder.appending(path: "wrapping.key")
        if !FileManager.default.fileExists(atPath: file.path) {
            let key = SymmetricKey(size: .bits256)
            try Self.write(key.withUnsafeBytes { Array($0) }, to: file, replacing: false)
        }
        let bytes = try Data(contentsOf: file)
        guard bytes.count == 32 else { throw Damaged(description: "\(file.path) does not hold a key") }
        wrappingKey = Secret(SymmetricKey(data: bytes))
    }

    /// See ``Vault/makeSigningKey(_:for:)``.
    public func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) throws -> any SigningKey {
        let key = P256.Signing.PrivateKey()
        try write(Array(key.rawRepresentation), as: Self.keyPrefix + role.rawValue, of: enrollment)
        return key
    }

    /// See ``Vault/makeAgreementKey(_:for:)``.
    public func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) throws -> any AgreementKey {
        let key = P256.KeyAgreement.PrivateKey()
        try write(Array(key.rawRepresentation), as: Self.keyPrefix + role.rawValue, of: enrollment)
        return key
    }

    /// See ``Vault/signingKey(_:of:)``.
    public func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) throws -> (any SigningKey)? {
        try record(Self.keyPrefix + role.rawValue, of: enrollment).map {
            try P256.Signing.PrivateKey(rawRepresentation: $0)
        }
    }

    /// See ``Vault/agreementKey(_:of:)``.
    public func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) throws -> (any AgreementKey)? {
        try record(Self.keyPrefix + role.rawValue, of: enrollment).map {
            try P256.KeyAgreement.PrivateKey(rawRepresentation: $0)
        }
    }

    /// See ``Vault/removeKey(_:of:)``.
    public func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) throws {
        try remove(Self.keyPrefix + role.rawValue, of: enrollment)
    }

    /// See ``Vault/enrollments(with:)``.
    public func enrollments(with record: String) throws -> [EnrollmentID] {
        try locked(LOCK_SH) {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .compactMap { EnrollmentID($0) }
                .filter { FileManager.default.fileExists(atPath: file(record, of: $0).path) }
                .sorted()
        }
    }

    /// See ``Vault/records(of:)``.
    public func records(of enrollment: EnrollmentID) throws -> [String] {
        try locked(LOCK_SH) {
            guard FileManager.default.fileExists(atPath: subfolder(of: enrollment).path) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: subfolder(of: enrollment).path)
                .filter { !$0.hasPrefix(Self.keyPrefix) && !$0.hasPrefix(".") }
                .sorted()
        }
    }

    /// See ``Vault/record(_:of:)``.
    public func record(_ name: String, of enrollment: EnrollmentID) throws -> [UInt8]? {
        try read(name, in: "\(enrollment)")
    }

    /// See ``Vault/write(_:as:of:)``.
    public func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) throws {
        try write(record, as: name, in: "\(enrollment)")
    }

    /// See ``Vault/appRecord(_:)``.
    public func appRecord(_ name: String) throws -> [UInt8]? {
        try read(name, in: Self.appPlace)
    }

    /// See ``Vault/writeAppRecord(_:as:)``.
    public func writeAppRecord(_ record: [UInt8], as name: String) throws {
        try write(record, as: name, in: Self.appPlace)
    }

    /// See ``Vault/removeAppRecord(_:)``.
    public func removeAppRecord(_ name: String) throws {
        try locked(LOCK_EX) { try discard(file(name, in: Self.appPlace)) }
    }

    private func read(_ name: String, in place: String) throws -> [UInt8]? {
        let file = file(name, in: place)
        let sealed = try locked(LOCK_SH) {
            FileManager.default.fileExists(atPath: file.path) ? try Data(contentsOf: file) : nil
        }
        guard let sealed else { return nil }
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: wrappingKey.reveal(), authenticating: bound(name, place))
        else { throw Damaged(description: "\(file.path) does not open under this vault's key") }
        return Array(bytes)
    }

    private func write(_ record: [UInt8], as name: String, in place: String) throws {
        let box = try AES.GCM.seal(record, using: wrappingKey.reveal(), authenticating: bound(name, place))
        guard let sealed = box.combined else { throw Damaged(description: "\(name) cannot be sealed") }
        try locked(LOCK_EX) {
            try FileManager.default.createDirectory(
                at: folder.appending(path: place), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try Self.write(Array(sealed), to: file(name, in: place), replacing: true)
        }
    }

    /// See ``Vault/remove(_:of:)``.
    public func remove(_ record: String, of enrollment: EnrollmentID) throws {
        try locked(LOCK_EX) { try discard(file(record, of: enrollment)) }
    }

    /// See ``Vault/removeAll(of:)``.
    public func removeAll(of enrollment: EnrollmentID) throws {
        try locked(LOCK_EX) {
            for role in KeyRole.allCases { try discard(file(Self.keyPrefix + role.rawValue, of: enrollment)) }
            try discard(subfolder(of: enrollment))
        }
    }

    private func discard(_ item: URL) throws {
        guard FileManager.default.fileExists(atPath: item.path) else { return }
        try FileManager.default.removeItem(at: item)
    }

    /// Runs a short operation while no other process writes; with `LOCK_EX`, while no other process reads either.
    private func locked<Result>(_ operation: Int32, _ body: () throws -> Result) throws -> Result {
        let descriptor = open(folder.appending(path: ".lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Damaged(description: "\(folder.path) cannot be locked (\(errno))") }
        // Closing the file ends the lock.
        defer { close(descriptor) }
        while flock(descriptor, operation) != 0 {
            guard errno == EINTR else { throw Damaged(description: "\(folder.path) cannot be locked (\(errno))") }
        }
        return try body()
    }

    private func subfolder(of enrollment: EnrollmentID) -> URL { folder.appending(path: "\(enrollment)") }

    private func file(_ name: String, of enrollment: EnrollmentID) -> URL { file(name, in: "\(enrollment)") }

    private func file(_ name: String, in place: String) -> URL {
        folder.appending(path: place).appending(path: name)
    }

    /// The data to which a sealed file is bound, so that it cannot be opened under another name.
    private func bound(_ name: String, _ place: String) -> [UInt8] { Array("\(place)/\(name)".utf8) }

    /// Writes a file durably: afterwards it exists completely or not at all.
    private static func write(_ bytes: [UInt8], to file: URL, replacing: Bool) throws {
        let draft = file.deletingLastPathComponent().appending(
            path: ".\(file.lastPathComponent).\(UInt32.random(in: 0...(.max)))")
        let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Damaged(description: "\(draft.path) cannot be made (\(errno))") }
        let isWritten = Foundation.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten else {
            unlink(draft.path)
            throw Damaged(description: "\(file.path) cannot be written (\(errno))")
        }
        // A link does not replace a file that another process made first; a rename does.
        let isPlaced = replacing ? rename(draft.path, file.path) == 0 : link(draft.path, file.path) == 0
        let failure = errno
        if !replacing { unlink(draft.path) }
        guard isPlaced || (!replacing && failure == EEXIST) else {
            throw Damaged(description: "\(file.path) cannot be written (\(failure))")
        }
    }
}
