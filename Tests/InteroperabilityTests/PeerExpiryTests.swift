import OpenPGP
import TestSupport
import Testing

@Suite("Keys that expired, ours for others and theirs for us")
struct PeerExpiryTests {
    private static let content = Array("content".utf8)
    private static let day: UnixSeconds = 86400

    @Test(
        "RFC 9580 §5.2.3.13: what a peer signed before its key expired stays good for us; the key is good for no more",
        arguments: PeerName.installed)
    func theirs(name: PeerName) async throws {
        let peer = try name.start()
        try await peer.makeKey(lasting: 2)
        let certificate = try peer.certificate()
        let end = try #require(certificate.primary.expiresAt)
        #expect(end == certificate.primary.publicKey.createdAt + 2 * Self.day)

        let signed = try peer.sign(Self.content, .detached, on: Holder.time + Self.day)
        let signature = try DetachedSignature(parsing: signed)
        let signer = try signature.verify(Self.content, by: certificate, now: .max)
        #expect(signer.fingerprint == certificate.fingerprint)

        try certificate.primary.check(.sign, at: end - 1)
        #expect(throws: OpenPGPError.keyExpired) { try certificate.primary.check(.sign, at: end) }
        let subkey = try #require(certificate.subkeys.first)
        #expect(throws: OpenPGPError.keyExpired) { try subkey.check(.encrypt, at: end) }
        #expect(throws: OpenPGPError.noUsableKey) { try certificate.key(for: .encrypt, at: end) }
    }

    @Test(
        "RFC 9580 §5.2.3.13: what we signed before our key expired stays good for a peer", arguments: PeerName.installed
    )
    func before(name: PeerName) async throws {
        let (verdict, keys) = try await verdict(of: name, at: Holder.time + Self.day)
        // gpg says the same of both: it judges a key by today, not by the time of signing.
        let fingerprint = keys.certificate.fingerprint
        #expect(verdict == (name == .gpg ? .expiredKey(fingerprint) : .good(fingerprint)))
    }

    @Test("RFC 9580 §5.2.3.13: what we sign after our key expired no peer calls good", arguments: PeerName.installed)
    func after(name: PeerName) async throws {
        let (verdict, keys) = try await verdict(of: name, at: Holder.time + 3 * Self.day)
        #expect(verdict == (name == .gpg ? .expiredKey(keys.certificate.fingerprint) : .refused))
    }

    /// What a peer says of a signature by a key of ours that lasted two days.
    private func verdict(of name: PeerName, at time: UnixSeconds) async throws -> (Verdict, SoftwareKeys) {
        let keys = try await SoftwareKeys(expiresAt: Holder.time + 2 * Self.day)
        let signature = try await DetachedSignature.sign(.binary(Self.content), by: keys.primary, at: time)
        if time < Holder.time + 2 * Self.day {
            _ = try signature.verify(Self.content, by: keys.certificate, now: .max)
        } else {
            #expect(throws: OpenPGPError.keyExpired) {
                try signature.verify(Self.content, by: keys.certificate, now: .max)
            }
        }
        let peer = try name.start()
        try peer.learn(keys.certificate)
        return (try peer.verify(signature.encoded, .detached, over: Self.content), keys)
    }

    @Test("No peer encrypts to a key of ours that expired", arguments: PeerName.installed)
    func encryption(name: PeerName) async throws {
        let keys = try await SoftwareKeys(expiresAt: Holder.time + 2 * Self.day)
        let peer = try await name.startWithKey()
        try peer.learn(keys.certificate)
        #expect(throws: PeerRefusal.self) { try peer.seal(Self.content, to: keys.certificate) }
    }
}
