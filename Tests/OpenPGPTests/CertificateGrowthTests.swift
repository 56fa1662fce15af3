import Crypto
@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §10.1: certificates that grow")
struct CertificateGrowthTests {
    private let holder: Holder
    private var certificate: Certificate { holder.certificate }
    private static let later = Holder.time + 100

    init() async throws {
        holder = try await Holder()
    }

    @Test("A certificate made with an end ends there, and one whose end is not behind its making is not made")
    func expiry() async throws {
        func make(until end: UnixSeconds) async throws -> Certificate {
            try await Certificate.make(
                primary: holder.primary, flags: [.certify, .sign], userID: "a <a@example.com>",
                subkeys: [.encryption(holder.encryption.publicKey)], expiresAt: end, at: Holder.time)
        }
        #expect(try await make(until: Self.later).keys.map(\.expiresAt) == [Self.later, Self.later])
        for end in [0, Holder.time - 1, Holder.time] as [UnixSeconds] {
            await #expect(throws: OpenPGPError.keyExpired) { try await make(until: end) }
        }
    }

    @Test("A subkey that is added stands behind the others, with its own end")
    func adding() async throws {
        let pair = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Self.later)
        let notation = Notation(name: "method@example.com", value: "biometric")
        let grown = try await certificate.adding(
            .signing(pair, notations: [notation]), expiresAt: Self.later + 9, by: holder.primary, at: Self.later)
        #expect(grown.encoded.starts(with: certificate.encoded))
        let added = try #require(grown.subkeys.last)
        #expect(added.fingerprint == pair.publicKey.fingerprint)
        #expect(added.flags == .sign && added.notations == [notation] && added.expiresAt == Self.later + 9)
        #expect(grown.subkeys.count == certificate.subkeys.count + 1)
    }

    @Test("RFC 9580 §5.2.1.12: a subkey is revoked for a reason, with a note, and the others are not")
    func revokingSubkey() async throws {
        let subkey = try #require(certificate.subkeys.last).fingerprint
        let revoked = try await certificate.revoking(
            subkey, because: .superseded, note: "a new phone", by: holder.primary, at: Self.later)
        #expect(revoked.keys.map(\.revokedAt) == [nil, nil, Self.later])
        let signature = try Signature(
            parsing: try #require(try CertificateParts(revoked).parts.last?.signatures.last))
        #expect(signature.type == .subkeyRevocation)
        #expect(signature.subpackets.revocationNote == "a new phone")
        let hard = try await certificate.revoking(subkey, because: .compromised, by: holder.primary, at: Self.later)
        #expect(hard.keys.map(\.revokedAt) == [nil, nil, 0])
    }

    @Test("RFC 9580 §5.2.1.11: with the primary key the whole certificate is revoked")
    func revokingPrimary() async throws {
        let revoked = try await certificate.revoking(
            certificate.fingerprint, because: .retired, by: holder.primary, at: Self.later)
        #expect(revoked.keys.map(\.revokedAt) == [Self.later, Self.later, Self.later])
    }

    @Test("A renewal gives all user IDs a new end, and only those that were not taken back")
    func renewal() async throws {
        let ended = try await certificate.renewed(until: Self.later + 5, by: holder.primary, at: Self.later)
        #expect(ended.keys.map(\.expiresAt) == [Self.later + 5, Self.later + 5, Self.later + 5])
        #expect(ended.primary.flags == certificate.primary.flags)
        let again = try await ended.renewed(until: nil, by: holder.primary, at: Self.later + 9)
        #expect(again.keys.map(\.expiresAt) == [nil, nil, nil])
        let forge = try await CertificateForge()
        let withdrawn = try Certificate(
            parsing: try await forge.head()
                + forge.signature(
                    .certificationRevocation, over: .userID(forge.name, of: forge.primary), at: Self.later))
        #expect(withdrawn.userIDs.map(\.revokedAt) == [Self.later])
        let renewed = try await withdrawn.renewed(until: Self.later + 9, by: forge.holder.primary, at: Self.later)
        #expect(renewed.encoded == withdrawn.encoded)
    }

    @Test("Copies that grew apart are merged, whichever comes first; what both have stands once")
    func merging() async throws {
        let pair = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: Self.later)
        let one = try await certificate.adding(
            .encryption(pair.publicKey), by: holder.primary, at: Self.later)
        let other = try await certificate.revoking(
            try #require(certificate.subkeys.first).fingerprint, because: .superseded, by: holder.primary,
            at: Self.later)
        for merged in [try one.merged(with: other), try other.merged(with: one)] {
            #expect(merged.keys.map(\.fingerprint) == one.keys.map(\.fingerprint))
            #expect(merged.keys.map(\.revokedAt) == [nil, Self.later, nil, nil])
            #expect(try merged.merged(with: one).encoded == merged.encoded)
            #expect(try merged.merged(with: certificate).encoded == merged.encoded)
        }
        #expect(try certificate.merged(with: certificate).encoded == certificate.encoded)
    }

    @Test("A second user ID comes in before the subkeys")
    func mergingUserIDs() async throws {
        let other = try await Certificate.make(
            primary: holder.primary, flags: [.certify, .sign], userID: "b <b@example.com>", subkeys: [],
            at: Holder.time)
        let merged = try certificate.merged(with: other)
        #expect(merged.userIDs.map(\.text) == certificate.userIDs.map(\.text) + ["b <b@example.com>"])
        #expect(merged.subkeys.count == 2)
    }

    @Test("A signature that differs only in what it does not cover is not a second one")
    func malleable() async throws {
        let parts = try CertificateParts(certificate)
        let original = try #require(parts.parts.last?.signatures.first)
        var other = original
        let keyID = holder.primary.publicKey.fingerprint.keyID
        let position = try #require(other.firstRange(of: [16] + keyID)?.upperBound) - 1
        other[position] ^= 1
        #expect(other != original)
        let altered = Array(certificate.encoded.replacing(original, with: other))
        #expect(altered != certificate.encoded)
        #expect(try certificate.merged(with: try Certificate(parsing: altered)).encoded == certificate.encoded)
    }

    @Test("Another person's certificate or primary key changes nothing")
    func others() async throws {
        let other = try await Holder()
        #expect(throws: OpenPGPError.differentCertificate) { try certificate.merged(with: other.certificate) }
        await #expect(throws: OpenPGPError.differentCertificate) {
            try await certificate.renewed(until: nil, by: other.primary, at: Self.later)
        }
        await #expect(throws: OpenPGPError.differentCertificate) {
            try await certificate.adding(.authentication(other.authentication), by: other.primary, at: Self.later)
        }
        await #expect(throws: OpenPGPError.differentCertificate) {
            try await certificate.revoking(
                certificate.fingerprint, because: .unspecified, by: other.primary, at: Self.later)
        }
        await #expect(throws: OpenPGPError.noUsableKey) {
            try await certificate.revoking(
                other.certificate.fingerprint, because: .unspecified, by: holder.primary, at: Self.later)
        }
    }

    @Test("RFC 9580 §5.2.1.13: a user ID that was taken back says since when")
    func userIDRevocation() async throws {
        let forge = try await CertificateForge()
        func revocation(at time: UnixSeconds) async throws -> [UInt8] {
            try await forge.signature(
                .certificationRevocation, over: .userID(forge.name, of: forge.primary), at: time)
        }
        let (early, late) = (try await revocation(at: Holder.time + 5), try await revocation(at: Holder.time + 9))
        for order in [early + late, late + early] {
            #expect(
                try Certificate(parsing: try await forge.head() + order).userIDs.map(\.revokedAt)
                    == [Holder.time + 5])
        }
        let lone = forge.key + forge.userID + early
        #expect(throws: OpenPGPError.unboundComponent(.userID)) { try Certificate(parsing: lone) }
    }

    @Test("Certifications by others of any algorithm are kept and skipped", arguments: [1, 17, 22, 27] as [UInt8])
    func foreignAlgorithms(algorithm: UInt8) async throws {
        let forge = try await CertificateForge()
        let foreign = Forge.packet(
            .signature, Forge.signatureBody(type: 0x10, algorithm: algorithm, integers: [[1], [2], [3]]))
        let certificate = try Certificate(parsing: try await forge.head() + foreign)
        #expect(certificate.primary.flags == [.certify, .sign])
        #expect(try certificate.merged(with: certificate).encoded.count == certificate.encoded.count)
        let alone = forge.key + forge.userID + foreign
        #expect(throws: OpenPGPError.unboundComponent(.userID)) { try Certificate(parsing: alone) }
    }
}
