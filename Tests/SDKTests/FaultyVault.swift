import Countersign
import CountersignWire
import OpenPGP
import Synchronization

/// A vault as it can be: a disk that is full, a keychain that is locked for a moment.
final class FaultyVault: BiometricVault {
    /// What the vault says when it fails.
    struct Failed: Error {}

    /// What it is asked to do, and about which record or key.
    enum Operation: Hashable, Sendable {
        case read(String)
        case write(String)
        case remove(String)
        case removeKey(KeyRole)
    }

    let storage = KeyStorage.software
    private let base = InsecureSimulatedBiometrics(before: MemoryVault()) { _ in nil }
    private let failing = Mutex<Set<Operation>>([])
    private let delayed = Mutex<(reads: Int, body: @Sendable () async -> Void)?>(nil)

    /// Makes it fail the next time it is asked to do this.
    func failOnce(at operation: Operation) {
        failing.withLock { _ = $0.insert(operation) }
    }

    /// Has a read of the app's record, so many from now on, return only after something else is done.
    func delay(read count: Int, until body: @escaping @Sendable () async -> Void) {
        delayed.withLock { $0 = (reads: count, body: body) }
    }

    private func attempt(_ operation: Operation) throws {
        if failing.withLock({ $0.remove(operation) }) != nil { throw Failed() }
    }

    func record(_ name: String, of enrollment: EnrollmentID) async throws -> [UInt8]? {
        try attempt(.read(name))
        return try await base.record(name, of: enrollment)
    }

    func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) async throws {
        try attempt(.write(name))
        try await base.write(record, as: name, of: enrollment)
    }

    func remove(_ record: String, of enrollment: EnrollmentID) async throws {
        try attempt(.remove(record))
        try await base.remove(record, of: enrollment)
    }

    func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws {
        try attempt(.removeKey(role))
        try await base.removeKey(role, of: enrollment)
    }

    func makeBiometricKey(for enrollment: EnrollmentID, prompt: String) async throws -> any SigningKey {
        try await base.makeBiometricKey(for: enrollment, prompt: prompt)
    }

    func biometricKey(of enrollment: EnrollmentID, prompt: String) async throws -> (any SigningKey)? {
        try await base.biometricKey(of: enrollment, prompt: prompt)
    }

    func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any SigningKey {
        try await base.makeSigningKey(role, for: enrollment)
    }

    func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any AgreementKey {
        try await base.makeAgreementKey(role, for: enrollment)
    }

    func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any SigningKey)? {
        try await base.signingKey(role, of: enrollment)
    }

    func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any AgreementKey)? {
        try await base.agreementKey(role, of: enrollment)
    }

    func enrollments(with record: String) async throws -> [EnrollmentID] {
        try await base.enrollments(with: record)
    }

    func records(of enrollment: EnrollmentID) async throws -> [String] {
        try await base.records(of: enrollment)
    }

    func removeAll(of enrollment: EnrollmentID) async throws {
        try await base.removeAll(of: enrollment)
    }

    func appRecord(_ name: String) async throws -> [UInt8]? {
        try attempt(.read("app record"))
        let record = try await base.appRecord(name)
        let body = delayed.withLock { delayed -> (@Sendable () async -> Void)? in
            guard let (reads, body) = delayed else { return nil }
            delayed = reads > 1 ? (reads: reads - 1, body: body) : nil
            return reads > 1 ? nil : body
        }
        await body?()
        return record
    }

    func writeAppRecord(_ record: [UInt8], as name: String) async throws {
        try attempt(.write("app record"))
        try await base.writeAppRecord(record, as: name)
    }

    func removeAppRecord(_ name: String) async throws {
        try attempt(.remove("app record"))
        try await base.removeAppRecord(name)
    }
}
