import Crypto
import Encodings
import OpenPGP
import TestSupport
import Testing

@Suite("What gpg revokes is revoked for us")
struct RevocationTests {
    private let gpg: GPG
    private let certificate: Certificate

    init() throws {
        gpg = try GPG()
        certificate = try gpg.makeKey()
    }

    private var exported: Certificate {
        get throws { try Certificate(armored: try gpg.run("--armor", "--export", "peer@example.com").output) }
    }

    @Test(
        "RFC 9580 §5.2.3.31: a subkey that was superseded or retired ends then; one that was compromised never counted",
        arguments: [("0", true), ("1", true), ("2", false), ("3", false)])
    func subkeys(menuEntry: String, isHard: Bool) throws {
        let edit = ["key 1", "revkey", "y", menuEntry, "", "y", "save"].map { "\($0)\n" }.joined()
        let result = try gpg.run(
            "--no-batch", "--command-fd", "0", "--status-fd", "2", "--edit-key", "\(certificate.fingerprint)",
            input: edit)
        #expect(result.status == 0, "\(result.errors)")
        let (primary, subkey) = (try exported.primary, try #require(try exported.subkeys.first))
        #expect(primary.revokedAt == nil)
        let revokedAt = try #require(subkey.revokedAt)
        #expect((revokedAt == 0) == isHard)
        #expect(throws: OpenPGPError.keyRevoked) { try subkey.check(.encrypt, at: .max - 1) }
        if isHard {
            #expect(throws: OpenPGPError.keyRevoked) { try subkey.check(.encrypt, at: subkey.publicKey.createdAt) }
        } else {
            #expect(revokedAt >= subkey.publicKey.createdAt)
            try subkey.check(.encrypt, at: revokedAt - 1)
            #expect(throws: OpenPGPError.keyRevoked) { try subkey.check(.encrypt, at: revokedAt) }
        }
    }

    @Test("RFC 9580 §5.2.1: a whole certificate revoked without a reason never counted, with all its keys")
    func primary() throws {
        let path = "openpgp-revocs.d/\(certificate.fingerprint).rev"
        // gpg puts a colon in front, so that nobody imports it by accident.
        let text = String(decoding: try gpg.folder.read(path), as: UTF8.self).replacing("\n:-----", with: "\n-----")
        let imported = try gpg.run("--import", try gpg.folder.write("revocation", text.utf8))
        #expect(imported.status == 0, "\(imported.errors)")
        let revoked = try exported
        #expect(revoked.keys.count == 2)
        for key in revoked.keys { #expect(key.revokedAt == 0) }
        #expect(throws: OpenPGPError.noUsableKey) { try revoked.key(for: .encrypt, at: .max - 1) }
        #expect(try certificate.key(for: .encrypt, at: .max - 1).fingerprint == certificate.subkeys.first?.fingerprint)
    }
}
