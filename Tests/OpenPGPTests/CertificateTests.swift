import Crypto
import Encodings
@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §10.1: certificates")
struct CertificateTests {
    @Test("What is made is read again with the same keys, flags and bytes")
    func roundTrip() async throws {
        let holder = try await Holder()
        let signing = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Holder.time)
        let notation = Notation(name: "method@login.example.com", value: "biometric")
        let made = try await Certificate.make(
            primary: holder.primary, flags: [.certify, .sign], userID: "é <x@example.com>",
            subkeys: [
                .signing(signing, notations: [notation]), .authentication(holder.authentication),
                .encryption(holder.encryption.publicKey),
            ], at: Holder.time)
        for read in [try Certificate(parsing: made.encoded), try Certificate(armored: made.armored)] {
            #expect(read.encoded == made.encoded)
            #expect(read.fingerprint == holder.primary.publicKey.fingerprint)
            #expect(read.userIDs.map(\.text) == ["é <x@example.com>"])
            #expect(read.keys.map(\.flags) == [[.certify, .sign], .sign, .authenticate, .encrypt])
            #expect(
                read.subkeys.map(\.fingerprint) == [
                    signing.publicKey.fingerprint, holder.authentication.publicKey.fingerprint,
                    holder.encryption.publicKey.fingerprint,
                ])
            #expect(read.keys.map(\.notations) == [[], [notation], [], []])
            #expect(read.keys.allSatisfy { $0.expiresAt == nil && $0.revokedAt == nil })
        }
    }

    @Test("A certificate that gpg exports is read with gpg's fingerprints")
    func fromGPG() throws {
        let certificate = try Certificate(armored: PeerFixture.certificate)
        #expect(
            certificate.keys.map { "\($0.fingerprint)" } == [PeerFixture.fingerprint, PeerFixture.subkeyFingerprint])
        #expect(certificate.userIDs.map(\.text) == [PeerFixture.userID])
        #expect(certificate.keys.map(\.flags) == [[.certify, .sign], .encrypt])
        #expect(try Certificate(armored: certificate.armored).encoded == certificate.encoded)
    }

    @Test("The newest key that is good for a use at a time is chosen")
    func choosing() async throws {
        let forge = try await CertificateForge()
        let newer = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: Holder.time + 100).publicKey
        let older = forge.holder.encryption.publicKey
        let certificate = try Certificate(
            parsing: try await forge.head() + forge.subkey(newer)
                + forge.binding(of: newer, flags: .encrypt, at: Holder.time + 100) { $0.keyLifetime = 100 }
                + forge.subkey(older) + forge.binding(of: older, flags: .encrypt))
        func chosen(_ time: UnixSeconds) throws -> Fingerprint {
            try certificate.key(for: .encrypt, at: time).fingerprint
        }
        #expect(try chosen(Holder.time) == older.fingerprint)
        #expect(try chosen(Holder.time + 99) == older.fingerprint)
        #expect(try chosen(Holder.time + 100) == newer.fingerprint)
        #expect(try chosen(Holder.time + 199) == newer.fingerprint)
        #expect(try chosen(Holder.time + 200) == older.fingerprint)
        #expect(throws: OpenPGPError.noUsableKey) { try chosen(Holder.time - 1) }
        #expect(throws: OpenPGPError.noUsableKey) { try certificate.key(for: .authenticate, at: .max) }
        #expect(throws: OpenPGPError.noUsableKey) { try certificate.key(for: [.encrypt, .sign], at: .max) }
        #expect(try certificate.key(for: .certify, at: .max).fingerprint == forge.primary.fingerprint)
    }

    @Test("RFC 9580 §5.2.3.13: keys expire with their lifetime, and subkeys no later than their primary key")
    func expiry() async throws {
        let forge = try await CertificateForge()
        let subkey = forge.holder.encryption.publicKey
        func expiries(primary: UInt32?, subkey lifetime: UInt32?) async throws -> [UnixSeconds?] {
            let certificate = try Certificate(
                parsing: forge.key + forge.userID + (try await forge.certification { $0.keyLifetime = primary })
                    + forge.subkey(subkey)
                    + (try await forge.binding(of: subkey, flags: .encrypt) { $0.keyLifetime = lifetime }))
            return certificate.keys.map(\.expiresAt)
        }
        #expect(try await expiries(primary: nil, subkey: nil) == [nil, nil])
        #expect(try await expiries(primary: 0, subkey: 0) == [nil, nil])
        #expect(try await expiries(primary: nil, subkey: 5) == [nil, Holder.time + 5])
        #expect(try await expiries(primary: 3, subkey: nil) == [Holder.time + 3, Holder.time + 3])
        #expect(try await expiries(primary: 3, subkey: 5) == [Holder.time + 3, Holder.time + 3])
        #expect(try await expiries(primary: 9, subkey: 5) == [Holder.time + 9, Holder.time + 5])
        #expect(try await expiries(primary: .max, subkey: .max) == [.max, .max])
    }

    @Test("RFC 9580 §5.2.3.18: a self-signature that expires takes what it says with it")
    func signatureExpiry() async throws {
        let forge = try await CertificateForge()
        let subkey = forge.holder.encryption.publicKey
        let certificate = try Certificate(
            parsing: forge.key + forge.userID
                + (try await forge.certification(at: Holder.time + 10) { $0.lifetime = 90 })
                + forge.subkey(subkey)
                + (try await forge.binding(of: subkey, flags: .encrypt) {
                    $0.lifetime = 50
                    $0.keyLifetime = 60
                }))
        #expect(certificate.keys.map(\.expiresAt) == [Holder.time + 100, Holder.time + 50])
        #expect(throws: OpenPGPError.keyExpired) { try certificate.primary.check(.sign, at: Holder.time + 100) }
    }

    @Test("RFC 9580 §5.2.3.10: the newest self-signature counts, in whatever order they stand")
    func newest() async throws {
        let forge = try await CertificateForge()
        let (old, new) = (
            try await forge.certification(flags: [.certify, .sign]),
            try await forge.certification(at: Holder.time + 1, flags: .certify) { $0.keyLifetime = 9 }
        )
        for order in [old + new, new + old] {
            let certificate = try Certificate(parsing: forge.key + forge.userID + order)
            #expect(certificate.primary.flags == .certify)
            #expect(certificate.primary.expiresAt == Holder.time + 9)
        }
        let direct = try await forge.signature(.directKey, over: .key(forge.primary), at: Holder.time + 2) {
            $0.keyFlags = .sign
        }
        #expect(try Certificate(parsing: forge.key + direct + forge.userID + old + new).primary.flags == .sign)
    }

    @Test(
        "RFC 9580 §5.2.3.31: a hard revocation reaches back to the beginning, a soft one to its own time",
        arguments: [
            (nil, 0), (.unspecified, 0), (.compromised, 0), (.superseded, Holder.time + 50),
            (.retired, Holder.time + 50),
        ] as [(RevocationReason?, UnixSeconds)])
    func revocation(reason: RevocationReason?, from: UnixSeconds) async throws {
        let forge = try await CertificateForge()
        let subkey = forge.holder.encryption.publicKey
        let binding = try await forge.binding(of: subkey, flags: .encrypt)
        let subkeyRevocation = try await forge.signature(
            .subkeyRevocation, over: .subkey(subkey, of: forge.primary), at: Holder.time + 50
        ) { $0.revocationReason = reason }
        let one = try Certificate(
            parsing: try await forge.head() + forge.subkey(subkey) + binding + subkeyRevocation)
        #expect(one.keys.map(\.revokedAt) == [nil, from])
        let keyRevocation = try await forge.signature(.keyRevocation, over: .key(forge.primary), at: Holder.time + 50) {
            $0.revocationReason = reason
        }
        let all = try Certificate(
            parsing: forge.key + keyRevocation + forge.userID + (try await forge.certification())
                + forge.subkey(subkey) + binding)
        #expect(all.keys.map(\.revokedAt) == [from, from])
        #expect(throws: OpenPGPError.noUsableKey) { try all.key(for: .encrypt, at: Holder.time + 50) }
        #expect((try? all.key(for: .encrypt, at: Holder.time + 49)) != nil || from == 0)
    }

    @Test("Of several revocations the one that reaches back furthest counts")
    func revocations() async throws {
        let forge = try await CertificateForge()
        let soft = try await forge.signature(.keyRevocation, over: .key(forge.primary), at: Holder.time + 1) {
            $0.revocationReason = .retired
        }
        let hard = try await forge.signature(.keyRevocation, over: .key(forge.primary), at: Holder.time + 2) {
            $0.revocationReason = .compromised
        }
        for order in [soft + hard, hard + soft] {
            let certificate = try Certificate(
                parsing: forge.key + order + forge.userID + (try await forge.certification()))
            #expect(certificate.primary.revokedAt == 0)
        }
    }

    @Test("Certifications by others are skipped, whatever they claim")
    func byOthers() async throws {
        let (forge, other) = (try await CertificateForge(), try await Holder())
        let foreign = try await forge.certification(by: other.primary, at: Holder.time + 9, flags: .encrypt)
        let certificate = try Certificate(
            parsing: forge.key + forge.userID + foreign + (try await forge.certification()) + foreign)
        #expect(certificate.primary.flags == [.certify, .sign])
    }
}
