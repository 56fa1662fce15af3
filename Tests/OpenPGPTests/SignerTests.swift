@testable import OpenPGP
import TestSupport
import Testing

@Suite("Who signed, when, and whether the key was good for it")
struct SignerTests {
    private static let time: UnixSeconds = Holder.time + 1000

    private func signature(
        by key: SigningKeyPair, at time: UnixSeconds = time, lifetime: UInt32? = nil
    ) async throws -> Signature {
        try await Signature.make(.binary, over: .document([7]), by: key, at: time) { $0.lifetime = lifetime }
    }

    private func key(
        _ pair: SigningKeyPair, flags: KeyFlags = .sign, expiresAt: UnixSeconds? = nil, revokedAt: UnixSeconds? = nil
    ) -> CertifiedKey {
        CertifiedKey(previouslyCertified: pair.publicKey, flags: flags, expiresAt: expiresAt, revokedAt: revokedAt)
    }

    private func judge(_ signature: Signature, _ keys: [CertifiedKey], now: UnixSeconds = time) throws {
        let signer = try signature.verifySigner(among: keys, over: .document([7]), now: now)
        #expect(signature.names(signer.publicKey))
    }

    @Test("The key that the signature names is the signer, wherever it stands")
    func finds() async throws {
        let (holder, other) = (try await Holder(), try await Holder())
        let signed = try await signature(by: holder.primary)
        try judge(signed, [key(other.primary), key(holder.primary)])
        #expect(throws: OpenPGPError.unknownSigner) { try judge(signed, [key(other.primary)]) }
        #expect(throws: OpenPGPError.unknownSigner) { try judge(signed, []) }
        #expect(throws: OpenPGPError.unknownSigner) { try judge(signed, [key(holder.authentication)]) }
    }

    @Test("A signature that names nobody is refused, though a key would verify it")
    func namesNobody() async throws {
        let holder = try await Holder()
        let body = try await Forge.signature(
            type: .binary, overHashed: [7], by: holder.primary, hashed: Forge.created(Self.time))
        let signed = try Signature(parsing: body)
        try signed.verify(.document([7]), by: holder.primary.publicKey)
        #expect(throws: OpenPGPError.unknownSigner) { try judge(signed, [key(holder.primary)]) }
    }

    @Test("RFC 9580 §5.2.3.12: a key ID outside the signed area names the signer where no fingerprint does")
    func keyIDAlone() async throws {
        let holder = try await Holder()
        let fingerprint = holder.primary.publicKey.fingerprint
        let named = try await Forge.signature(
            type: .binary, overHashed: [7], by: holder.primary, hashed: Forge.created(Self.time),
            unhashed: Forge.subpacket(16, fingerprint.keyID))
        try judge(try Signature(parsing: named), [key(holder.primary)])
        let misnamed = try await Forge.signature(
            type: .binary, overHashed: [7], by: holder.primary, hashed: Forge.created(Self.time),
            unhashed: Forge.subpacket(16, [UInt8](repeating: 0, count: 8)))
        #expect(throws: OpenPGPError.unknownSigner) {
            try judge(try Signature(parsing: misnamed), [key(holder.primary)])
        }
    }

    @Test("RFC 9580 §5.2.3.35: a signed fingerprint overrules a key ID that anyone could have written")
    func fingerprintFirst() async throws {
        let (holder, other) = (try await Holder(), try await Holder())
        let body = try await Forge.signature(
            type: .binary, overHashed: [7], by: holder.primary,
            hashed: Forge.created(Self.time) + Forge.subpacket(33, [4] + holder.primary.publicKey.fingerprint.bytes),
            unhashed: Forge.subpacket(16, other.primary.publicKey.fingerprint.keyID))
        let signed = try Signature(parsing: body)
        try judge(signed, [key(other.primary), key(holder.primary)])
        #expect(throws: OpenPGPError.unknownSigner) { try judge(signed, [key(other.primary)]) }
    }

    @Test("A signature that lies about its signer is refused")
    func lies() async throws {
        let (holder, other) = (try await Holder(), try await Holder())
        let body = try await Forge.signature(
            type: .binary, overHashed: [7], by: other.primary,
            hashed: Forge.created(Self.time) + Forge.subpacket(33, [4] + holder.primary.publicKey.fingerprint.bytes))
        #expect(throws: OpenPGPError.badSignature) {
            try judge(try Signature(parsing: body), [key(holder.primary), key(other.primary)])
        }
    }

    @Test("A signature from the future, or older than its key, is refused to the second")
    func times() async throws {
        let holder = try await Holder()
        let keys = [key(holder.primary)]
        try judge(try await signature(by: holder.primary, at: Self.time), keys, now: Self.time)
        let future = try await signature(by: holder.primary, at: Self.time + 1)
        #expect(throws: OpenPGPError.badSignatureTime) { try judge(future, keys, now: Self.time) }
        try judge(try await signature(by: holder.primary, at: Holder.time), keys)
        let early = try await signature(by: holder.primary, at: Holder.time - 1)
        #expect(throws: OpenPGPError.badSignatureTime) { try judge(early, keys) }
    }

    @Test("RFC 9580 §5.2.3.18: a signature expires to the second, and one with a lifetime of zero never")
    func expiry() async throws {
        let holder = try await Holder()
        let keys = [key(holder.primary)]
        let signed = try await signature(by: holder.primary, lifetime: 10)
        try judge(signed, keys, now: Self.time + 9)
        #expect(throws: OpenPGPError.signatureExpired) { try judge(signed, keys, now: Self.time + 10) }
        try judge(try await signature(by: holder.primary, lifetime: 0), keys, now: .max)
        try judge(try await signature(by: holder.primary, lifetime: .max), keys, now: .max)
    }

    @Test("RFC 9580 §5.2.3.29: a key without the flag to sign signs nothing")
    func flags() async throws {
        let holder = try await Holder()
        let signed = try await signature(by: holder.primary)
        try judge(signed, [key(holder.primary, flags: [.sign, .certify])])
        for flags in [[], .certify, .authenticate, .encrypt] as [KeyFlags] {
            #expect(throws: OpenPGPError.wrongKeyFlags) { try judge(signed, [key(holder.primary, flags: flags)]) }
        }
    }

    @Test("A key is judged at the time of signing, to the second")
    func keyTimes() async throws {
        let holder = try await Holder()
        let signed = try await signature(by: holder.primary)
        try judge(signed, [key(holder.primary, expiresAt: Self.time + 1)], now: .max)
        #expect(throws: OpenPGPError.keyExpired) { try judge(signed, [key(holder.primary, expiresAt: Self.time)]) }
        try judge(signed, [key(holder.primary, revokedAt: Self.time + 1)], now: .max)
        #expect(throws: OpenPGPError.keyRevoked) { try judge(signed, [key(holder.primary, revokedAt: Self.time)]) }
        #expect(throws: OpenPGPError.keyRevoked) { try judge(signed, [key(holder.primary, revokedAt: 0)]) }
    }
}
