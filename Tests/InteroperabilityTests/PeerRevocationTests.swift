import OpenPGP
import TestSupport
import Testing

@Suite("Revocations, ours for others and theirs for us")
struct PeerRevocationTests {
    private static let content = Array("content".utf8)
    private static let reasons = [RevocationReason.unspecified, .superseded, .compromised, .retired]
    private static let revokedAt = Holder.time + 1000

    @Test(
        "RFC 9580 §5.2.3.31: a subkey that a peer revoked ends then, or never counted, as the reason says",
        arguments: PeerName.installed, reasons)
    func theirSubkey(name: PeerName, reason: RevocationReason) async throws {
        let peer = try await name.startWithKey()
        let subkey = try #require(try peer.certificate().subkeys.first)
        let certificate = try peer.revoke(subkey.fingerprint, because: reason)
        #expect(certificate.primary.revokedAt == nil)
        try expectRevoked(try #require(certificate.subkeys.first), reason, for: .encrypt)
        #expect(throws: OpenPGPError.noUsableKey) { try certificate.key(for: .encrypt, at: .max - 1) }
    }

    @Test(
        "RFC 9580 §5.2.3.31: a certificate that a peer revoked ends then, or never counted, with all its keys",
        arguments: PeerName.installed, reasons)
    func theirPrimary(name: PeerName, reason: RevocationReason) async throws {
        let peer = try await name.startWithKey()
        let certificate = try peer.revoke(try peer.certificate().fingerprint, because: reason)
        try expectRevoked(certificate.primary, reason, for: .sign)
        try expectRevoked(try #require(certificate.subkeys.first), reason, for: .encrypt)
    }

    private func expectRevoked(_ key: CertifiedKey, _ reason: RevocationReason, for flags: KeyFlags) throws {
        let revokedAt = try #require(key.revokedAt)
        if reason.keepsEarlierSignatures {
            #expect(revokedAt >= key.publicKey.createdAt)
            try key.check(flags, at: revokedAt - 1)
        } else {
            #expect(revokedAt == 0)
        }
        #expect(throws: OpenPGPError.keyRevoked) { try key.check(flags, at: revokedAt) }
        #expect(throws: OpenPGPError.keyRevoked) { try key.check(flags, at: .max - 1) }
    }

    /// A key of ours to be revoked, and when it signs.
    struct Case: Sendable, CustomTestStringConvertible {
        let isPrimary: Bool
        let reason: RevocationReason
        let signsBefore: Bool

        var testDescription: String {
            "\(isPrimary ? "primary key" : "subkey") \(reason), signature \(signsBefore ? "before" : "after")"
        }

        /// Whether the signature counts: it was made before a revocation that takes nothing back.
        var counts: Bool { signsBefore && reason.keepsEarlierSignatures }
    }

    private static let cases = [true, false].flatMap { isPrimary in
        reasons.flatMap { reason in
            [true, false].map { Case(isPrimary: isPrimary, reason: reason, signsBefore: $0) }
        }
    }

    @Test(
        "RFC 9580 §5.2.1.11, §5.2.1.12: a peer finds our revocations and judges by them", arguments: PeerName.installed,
        cases)
    func ours(name: PeerName, revocation: Case) async throws {
        let keys = try await SoftwareKeys()
        let signer = revocation.isPrimary ? keys.primary : try #require(keys.pin)
        let certificate = try await keys.certificate.revoking(
            signer.publicKey.fingerprint, because: revocation.reason, note: "why", by: keys.primary, at: Self.revokedAt)
        let time = revocation.signsBefore ? Self.revokedAt - 1 : Self.revokedAt
        let signature = try await DetachedSignature.sign(.binary(Self.content), by: signer, at: time)

        let peer = try name.start()
        try peer.learn(certificate)
        let verdict = try peer.verify(signature.encoded, .detached, over: Self.content)
        let fingerprint = signer.publicKey.fingerprint
        switch name {
        // It says that the key is revoked, whenever and why ever that was.
        case .gpg: #expect(verdict == .revokedKey(fingerprint))
        // It judges as we do.
        case .sq: #expect(verdict == (revocation.counts ? .good(fingerprint) : .refused))
        // It lists the key as revoked beside a good signature; only a compromised one it takes nothing from.
        case .rnp: #expect(verdict == (revocation.reason == .compromised ? .refused : .revokedKey(fingerprint)))
        }
        if revocation.counts {
            _ = try signature.verify(Self.content, by: certificate, now: .max)
        } else {
            #expect(throws: OpenPGPError.keyRevoked) {
                try signature.verify(Self.content, by: certificate, now: .max)
            }
        }
    }

    @Test("No peer encrypts to a subkey of ours that is revoked", arguments: PeerName.installed)
    func encryption(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let certificate = try await keys.certificate.revoking(
            keys.encryption.publicKey.fingerprint, because: .superseded, by: keys.primary, at: Self.revokedAt)
        let peer = try await name.startWithKey()
        try peer.learn(certificate)
        #expect(throws: PeerRefusal.self) { try peer.seal(Self.content, to: certificate) }
    }

    @Test(
        "No peer encrypts to a certificate of ours that is revoked; sq 0.27 looks at the subkey alone",
        arguments: PeerName.installed.filter { $0 != .sq })
    func encryptionToCertificate(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let certificate = try await keys.certificate.revoking(
            keys.certificate.fingerprint, because: .superseded, by: keys.primary, at: Self.revokedAt)
        let peer = try await name.startWithKey()
        try peer.learn(certificate)
        #expect(throws: PeerRefusal.self) { try peer.seal(Self.content, to: certificate) }
        #expect(throws: OpenPGPError.noUsableKey) { try certificate.key(for: .encrypt, at: Self.revokedAt) }
    }

    @Test("A peer uses the subkey that replaced a revoked one", arguments: PeerName.installed)
    func replaced(name: PeerName) async throws {
        let (keys, newer) = (try await SoftwareKeys(), try await SoftwareKeys())
        let certificate = try await keys.certificate
            .adding(.encryption(newer.encryption.publicKey), by: keys.primary, at: Self.revokedAt)
            .revoking(
                keys.encryption.publicKey.fingerprint, because: .superseded, by: keys.primary, at: Self.revokedAt)
        let peer = try await name.startWithKey()
        try peer.learn(keys.certificate)
        try peer.learn(certificate)
        let message = try peer.seal(Self.content, to: certificate)
        let signers = try peer.certificate().keys
        let opened = try await EncryptedMessage.open(
            message, with: newer.encryption, signers: signers, intendedRecipient: nil, now: .max)
        #expect(opened.content == Self.content)
        await #expect(throws: OpenPGPError.notForThisKey) {
            try await EncryptedMessage.open(
                message, with: keys.encryption, signers: signers, intendedRecipient: nil, now: .max)
        }
    }
}
