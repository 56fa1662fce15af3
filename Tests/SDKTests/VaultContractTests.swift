import Countersign
import CountersignWire
import Crypto
import Foundation
import OpenPGP
import TestSupport
import Testing

@Suite("What every vault does")
struct VaultContractTests {
    enum Kind: CaseIterable, Sendable {
        case memory, file, hardware
    }

    private let folder: TemporaryFolder
    private let one: EnrollmentID
    private let two: EnrollmentID

    init() throws {
        folder = try TemporaryFolder()
        one = try #require(EnrollmentID("enr_00000000000000000000000001"))
        two = try #require(EnrollmentID("enr_00000000000000000000000002"))
    }

    private func vault(_ kind: Kind) throws -> any Vault {
        switch kind {
        case .memory: MemoryVault()
        case .file: try FileVault(at: folder.url.appending(path: "vault with a space"))
        case .hardware: try HardwareVault(items: FakeItems(), hardware: FakeHardware())
        }
    }

    @Test("A new vault is empty", arguments: Kind.allCases)
    func empty(_ kind: Kind) async throws {
        let vault = try vault(kind)
        #expect(try await vault.enrollments(with: "enrollment").isEmpty)
        #expect(try await vault.records(of: one).isEmpty)
        #expect(try await vault.record("enrollment", of: one) == nil)
        #expect(try await vault.signingKey(.primary, of: one) == nil)
        #expect(try await vault.agreementKey(.encryption, of: one) == nil)
        #expect(vault.storage == (kind == .hardware ? .enclave : .software))
    }

    @Test("A record reads as it was written, and the last one counts", arguments: Kind.allCases)
    func records(_ kind: Kind) async throws {
        let vault = try vault(kind)
        let contents: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 7, count: 100_000), [0, 0xFF, 10, 13]]
        for content in contents {
            try await vault.write(content, as: "a-record_1", of: one)
            #expect(try await vault.record("a-record_1", of: one) == content)
        }
        #expect(try await vault.record("a-record_1", of: two) == nil)
        #expect(try await vault.record("another", of: one) == nil)
    }

    @Test("Records are listed by name, keys are not among them", arguments: Kind.allCases)
    func names(_ kind: Kind) async throws {
        let vault = try vault(kind)
        _ = try await vault.makeSigningKey(.primary, for: one)
        _ = try await vault.makeAgreementKey(.encryption, for: one)
        for name in ["b", "a", "c"] { try await vault.write([1], as: name, of: one) }
        #expect(try await vault.records(of: one) == ["a", "b", "c"])
        try await vault.remove("b", of: one)
        #expect(try await vault.records(of: one) == ["a", "c"])
        // What is not there can be forgotten as well.
        try await vault.remove("b", of: one)
        try await vault.remove("b", of: two)
    }

    @Test("Enrollments are found by a record they have", arguments: Kind.allCases)
    func enrollments(_ kind: Kind) async throws {
        let vault = try vault(kind)
        try await vault.write([1], as: "enrollment", of: two)
        try await vault.write([1], as: "enrollment", of: one)
        try await vault.write([1], as: "other", of: one)
        #expect(try await vault.enrollments(with: "enrollment") == [one, two])
        #expect(try await vault.enrollments(with: "other") == [one])
        try await vault.remove("enrollment", of: two)
        #expect(try await vault.enrollments(with: "enrollment") == [one])
    }

    @Test("A record of the app belongs to no enrollment, and is deleted with none", arguments: Kind.allCases)
    func appRecords(_ kind: Kind) async throws {
        let vault = try vault(kind)
        #expect(try await vault.appRecord("tokens-1") == nil)
        try await vault.removeAppRecord("tokens-1")
        try await vault.write([1], as: "tokens-1", of: one)
        for content: [UInt8] in [[2, 3], []] {
            try await vault.writeAppRecord(content, as: "tokens-1")
            #expect(try await vault.appRecord("tokens-1") == content)
        }
        #expect(try await vault.enrollments(with: "tokens-1") == [one])
        try await vault.removeAll(of: one)
        #expect(try await vault.appRecord("tokens-1") == [])
        try await vault.removeAppRecord("tokens-1")
        #expect(try await vault.appRecord("tokens-1") == nil)
    }

    @Test("A signing key is found again, by role and enrollment, and signs", arguments: Kind.allCases)
    func signingKeys(_ kind: Kind) async throws {
        let vault = try vault(kind)
        let made = try await vault.makeSigningKey(.primary, for: one)
        let other = try await vault.makeSigningKey(.authentication, for: one)
        let found = try #require(try await vault.signingKey(.primary, of: one))
        #expect(found.publicKey.rawRepresentation == made.publicKey.rawRepresentation)
        #expect(other.publicKey.rawRepresentation != made.publicKey.rawRepresentation)
        #expect(try await vault.signingKey(.primary, of: two) == nil)
        let digest = SHA256.hash(data: Array("hello".utf8))
        let signature = try await found.signature(for: digest)
        #expect(made.publicKey.isValidSignature(signature, for: digest))
        // Made again, it is another.
        let again = try await vault.makeSigningKey(.primary, for: one)
        #expect(again.publicKey.rawRepresentation != made.publicKey.rawRepresentation)
        let now = try await vault.signingKey(.primary, of: one)
        #expect(now?.publicKey.rawRepresentation == again.publicKey.rawRepresentation)
    }

    @Test("An agreement key is found again, and agrees", arguments: Kind.allCases)
    func agreementKeys(_ kind: Kind) async throws {
        let vault = try vault(kind)
        let made = try await vault.makeAgreementKey(.encryption, for: one)
        let found = try #require(try await vault.agreementKey(.encryption, of: one))
        let peer = P256.KeyAgreement.PrivateKey()
        let ours = try await found.sharedSecret(with: peer.publicKey)
        let theirs = try peer.sharedSecretFromKeyAgreement(with: made.publicKey)
        #expect(ours == theirs)
        #expect(try await vault.agreementKey(.encryption, of: two) == nil)
    }

    @Test("Forgetting all of an enrollment leaves nothing of it, and all of the others", arguments: Kind.allCases)
    func removeAll(_ kind: Kind) async throws {
        let vault = try vault(kind)
        for id in [one, two] {
            for role in [KeyRole.primary, .authentication] { _ = try await vault.makeSigningKey(role, for: id) }
            _ = try await vault.makeAgreementKey(.encryption, for: id)
            try await vault.write([1], as: "enrollment", of: id)
        }
        try await vault.removeAll(of: one)
        try await vault.removeAll(of: one)
        #expect(try await vault.signingKey(.primary, of: one) == nil)
        #expect(try await vault.signingKey(.authentication, of: one) == nil)
        #expect(try await vault.agreementKey(.encryption, of: one) == nil)
        #expect(try await vault.records(of: one).isEmpty)
        #expect(try await vault.enrollments(with: "enrollment") == [two])
        #expect(try await vault.signingKey(.primary, of: two) != nil)
        #expect(try await vault.agreementKey(.encryption, of: two) != nil)
    }
}
