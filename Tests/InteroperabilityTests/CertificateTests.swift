import Crypto
import Encodings
import TestSupport
import Testing

@testable import OpenPGP

@Suite("Certificates of gpg and ours, there and back")
struct CertificateTests {
    @Test("Our certificate comes back from gpg packet for packet")
    func ours() async throws {
        let holder = try await Holder()
        let gpg = try GPG()
        let imported = try gpg.run("--import", try gpg.folder.write("ours", holder.certificate.encoded))
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try gpg.run("--output", gpg.folder.path("out"), "--export").status == 0)
        // gpg writes headers of the older form; what they frame is what we wrote.
        let bytes = try gpg.folder.read("out")
        let (sent, returned) = (try Packet.sequence(holder.certificate.encoded[...]), try Packet.sequence(bytes[...]))
        #expect(returned.map(\.tag) == sent.map(\.tag) && sent.count == 7)
        #expect(returned.map { Array($0.body) } == sent.map { Array($0.body) })
        let armored = try gpg.run("--armor", "--export").output
        #expect(try Certificate(armored: armored).encoded == bytes)
        #expect(try Certificate(parsing: bytes).keys.map(\.flags) == holder.certificate.keys.map(\.flags))
    }

    @Test("gpg's certificate, armored by us, is good for another gpg")
    func theirs() throws {
        let (gpg, other) = (try GPG(), try GPG())
        let certificate = try gpg.makeKey()
        #expect(certificate.userIDs.map(\.text) == ["peer@example.com"])
        let imported = try other.run("--import", try other.folder.write("theirs.asc", certificate.armored.utf8))
        #expect(imported.status == 0, "\(imported.errors)")
        let listing = try other.run("--with-colons", "--check-sigs", "--with-subkey-fingerprint").output
        for key in certificate.keys { #expect(listing.contains("fpr:::::::::\(key.fingerprint):")) }
        #expect(listing.split(separator: "\n").count { $0.hasPrefix("sig:!:") } == 2)
        #expect(!listing.contains("sig:-:"))
    }

    @Test(
        "What gpg says of a key is what we read: its flags and its end, which is never after the primary key's",
        arguments: [("0", [nil, 2, nil, 3]), ("1d", [1, 1, 1, 1])] as [(String, [UInt32?])])
    func flags(lifetime: String, days: [UInt32?]) throws {
        let gpg = try GPG()
        let made = try gpg.run("--quick-generate-key", "peer@example.com", "nistp256", "sign", lifetime)
        #expect(made.status == 0, "\(made.errors)")
        let listing = try gpg.run("--with-colons", "--list-keys").output
        let fingerprint = try #require(listing.firstMatch(of: /fpr:::::::::([0-9A-F]{40}):/)?.output.1)
        for (algorithm, usage, lifetime) in [
            ("nistp256/ecdsa", "sign", "2d"), ("nistp256/ecdsa", "auth", "0"), ("nistp256", "encr", "3d"),
        ] {
            #expect(try gpg.run("--quick-add-key", String(fingerprint), algorithm, usage, lifetime).status == 0)
        }
        let certificate = try Certificate(armored: try gpg.run("--armor", "--export").output)
        #expect(certificate.keys.map(\.flags) == [[.certify, .sign], .sign, .authenticate, .encrypt])
        // The keys were not all made in the same second.
        let ends = certificate.keys.enumerated().map { index, key in
            days[index].map { (days[0] == nil ? key : certificate.primary).publicKey.createdAt + $0 * 86400 }
        }
        #expect(certificate.keys.map(\.expiresAt) == ends)
    }

    @Test("A certificate that gpg exports with a byte changed is refused, by us and by gpg")
    func altered() throws {
        let gpg = try GPG()
        let certificate = try gpg.makeKey()
        let other = try GPG()
        // The user ID: its text is in no other packet.
        let index = try #require(certificate.encoded.firstRange(of: Array("peer@".utf8))).lowerBound
        var altered = certificate.encoded
        altered[index] ^= 1
        #expect(throws: OpenPGPError.badSignature) { try Certificate(parsing: altered) }
        try other.run("--import", try other.folder.write("altered", altered))
        #expect(try other.run("--with-colons", "--list-keys").output.contains("pub:") == false)
        try other.run("--import", try other.folder.write("unaltered", certificate.encoded))
        #expect(try other.run("--with-colons", "--list-keys").output.contains("pub:"))
    }

    @Test("RFC 9580 §9.1: keys of gpg's other algorithms are refused by their number or curve")
    func otherAlgorithms() throws {
        for (algorithm, error) in [
            ("nistp384", OpenPGPError.unsupportedCurve), ("ed25519", .unsupportedKeyAlgorithm(22)),
            ("rsa2048", .unsupportedKeyAlgorithm(1)),
        ] {
            let gpg = try GPG()
            #expect(try gpg.run("--quick-generate-key", "peer@example.com", algorithm, "sign", "0").status == 0)
            let armored = try gpg.run("--armor", "--export").output
            #expect(throws: error) { try Certificate(armored: armored) }
        }
    }
}
