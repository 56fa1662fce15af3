import OpenPGP
import TestSupport
import Testing

@Suite("Certificates, ours read by others and theirs by us")
struct PeerCertificateTests {
    @Test("A peer lists our keys: fingerprints, uses and ends", arguments: PeerName.installed)
    func ours(name: PeerName) async throws {
        let end = SoftwareKeys.time + 1000 * 86400
        for expiresAt in [nil, end] {
            let keys = try await SoftwareKeys(expiresAt: expiresAt)
            let listed = try name.start().list(keys.certificate)
            #expect(listed.map(\.usage) == ["CS", "S", "E"])
            // A subkey is listed by its own binding, which says nothing; it ends with the primary key anyway.
            #expect(listed.map(\.end) == [expiresAt.map(ListedKey.day), nil, nil])
            #expect(listed.map(\.fingerprint) == keys.certificate.keys.map(\.fingerprint.description))
        }
    }

    @Test("A peer finds our notation, user ID and preferences", arguments: PeerName.installed)
    func packets(name: PeerName) async throws {
        let keys = try await SoftwareKeys()
        let packets = try name.start().packets(keys.certificate)
        #expect(packets.contains("method@login.example.com"))
        #expect(packets.contains("usr_1 <enr_1@login.example.com>"))
        #expect(!packets.lowercased().contains("unknown"), "\(packets)")
    }

    @Test("We read a peer's certificate as it does itself", arguments: PeerName.installed)
    func theirs(name: PeerName) async throws {
        let peer = try await name.startWithKey()
        let certificate = try peer.certificate()
        #expect(certificate.userIDs.map(\.text) == ["peer@example.com"])
        #expect(try peer.list(certificate) == certificate.keys.map { ListedKey($0) })
        #expect(certificate.keys.map(\.flags) == [[.certify, .sign], .encrypt])
    }

    @Test("What one peer made, another reads after we wrote it", arguments: PeerName.installed, PeerName.installed)
    func passedOn(from: PeerName, to: PeerName) async throws {
        let peer = try await from.startWithKey()
        let certificate = try Certificate(armored: try peer.certificate().armored)
        #expect(try to.start().list(certificate) == certificate.keys.map { ListedKey($0) })
    }
}
