import OpenPGP
import TestSupport
import Testing

@Suite("What gpg does to a certificate in the course of its life, read by us")
struct KeyHandlingTests {
    private static let content = Array("content".utf8)

    private let gpg: GPG
    private let certificate: Certificate

    init() throws {
        gpg = try GPG()
        certificate = try gpg.makeKey()
    }

    private var exported: Certificate {
        get throws { try Certificate(armored: try gpg.run("--armor", "--export", fingerprint).succeeded().output) }
    }

    private var fingerprint: String { certificate.fingerprint.description }

    @Test("RFC 9580 §5.2.3.13: a new end counts, and a renewal is one more statement")
    func renewal() throws {
        let made = certificate.primary.publicKey.createdAt
        try gpg.run("--quick-set-expire", fingerprint, "2d").succeeded()
        let limited = try exported
        let end = try #require(limited.primary.expiresAt)
        #expect((made + 2 * 86400...made + 2 * 86400 + 600).contains(end))
        #expect(limited.subkeys.map(\.expiresAt) == [end])
        try gpg.run("--quick-set-expire", fingerprint, "0").succeeded()
        let renewed = try exported
        #expect(renewed.keys.map(\.expiresAt) == [nil, nil])
        #expect(try limited.merged(with: renewed).keys.map(\.expiresAt) == [nil, nil])
    }

    @Test("RFC 9580 §5.2.1.13: further user IDs are read, and that one of them was taken back")
    func userIDs() throws {
        try gpg.run("--quick-add-uid", fingerprint, "second@example.com").succeeded()
        #expect(try exported.userIDs.map(\.text).sorted() == ["peer@example.com", "second@example.com"])
        #expect(try exported.userIDs.allSatisfy { $0.revokedAt == nil })
        try gpg.run("--quick-revoke-uid", fingerprint, "peer@example.com").succeeded()
        for userID in try exported.userIDs {
            #expect((userID.revokedAt == nil) == (userID.text == "second@example.com"), "\(userID.text)")
        }
        // The keys are none the worse for it.
        #expect(try exported.keys.map(\.revokedAt) == [nil, nil])
    }

    @Test(
        "RFC 9580 §10.1: certifications by others, RSA among them, change nothing", arguments: ["nistp256", "rsa2048"])
    func certifications(algorithm: String) throws {
        try gpg.run("--quick-generate-key", "other@example.com", algorithm, "sign", "0").succeeded()
        try gpg.run("--local-user", "other@example.com", "--quick-sign-key", fingerprint).succeeded()
        let certified = try exported
        #expect(certified.encoded.count > certificate.encoded.count)
        #expect(certified.keys.map { ListedKey($0) } == certificate.keys.map { ListedKey($0) })
        #expect(certified.userIDs == certificate.userIDs)
    }

    @Test("RFC 9580 §5.2.3.24: gpg shows the notations of our signature, and we read those of its own")
    func notations() async throws {
        let keys = try await SoftwareKeys()
        try gpg.run("--import", try gpg.folder.write("ours", keys.certificate.encoded)).succeeded()
        let file = try gpg.folder.write("content", Self.content)
        let notation = Notation(name: "method@login.example.com", value: "pin and ü")
        let ours = try await DetachedSignature.sign(
            .binary(Self.content), by: keys.primary, notations: [notation], at: SoftwareKeys.time)
        let shown = try gpg.run(
            "--status-fd", "1", "--verify-options", "show-notations", "--verify",
            try gpg.folder.write("signature", ours.encoded), file
        ).succeeded()
        #expect(shown.output.contains("NOTATION_NAME method@login.example.com\n"))
        #expect(shown.output.contains("NOTATION_DATA pin%20and%20ü\n"))

        try gpg.run(
            "--local-user", fingerprint, "--sig-notation", "a@example.com=1", "--sig-notation", "b@example.com=zwei",
            "--output", gpg.folder.path("theirs"), "--detach-sign", file
        ).succeeded()
        let theirs = try DetachedSignature(parsing: try gpg.folder.read("theirs"))
        _ = try theirs.verify(Self.content, by: certificate, now: .max)
        let notations = theirs.signature.subpackets.notations
        #expect(notations.count == 2)
        #expect(
            Set(notations) == [
                Notation(name: "a@example.com", value: "1"), Notation(name: "b@example.com", value: "zwei"),
            ])
    }

    @Test("RFC 9580 §5.2.3.24: a critical notation of gpg's, which we do not understand, refuses its signature")
    func criticalNotation() throws {
        try gpg.run(
            "--sig-notation", "!a@example.com=1", "--output", gpg.folder.path("theirs"), "--detach-sign",
            try gpg.folder.write("content", Self.content)
        ).succeeded()
        let bytes = try gpg.folder.read("theirs")
        #expect(throws: OpenPGPError.unknownCriticalNotation) { try DetachedSignature(parsing: bytes) }
    }

    @Test("RFC 9580 §5.2.3.18: a signature of gpg's that has expired is refused")
    func signatureExpiry() throws {
        try gpg.run(
            "--default-sig-expire", "1d", "--output", gpg.folder.path("theirs"), "--detach-sign",
            try gpg.folder.write("content", Self.content)
        ).succeeded()
        let signature = try DetachedSignature(parsing: try gpg.folder.read("theirs"))
        let end = signature.signature.createdAt + 86400
        _ = try signature.verify(Self.content, by: certificate, now: end - 1)
        #expect(throws: OpenPGPError.signatureExpired) {
            try signature.verify(Self.content, by: certificate, now: end)
        }
    }

    @Test("A block of gpg's without the primary secret key has the subkey's alone")
    func primaryElsewhere() throws {
        let armored = try gpg.run("--armor", "--export-secret-subkeys", fingerprint).succeeded().output
        let block = try SecretKeyBlock(armored: armored)
        let subkey = try #require(certificate.subkeys.first).fingerprint
        #expect(block.signingKey(certificate.fingerprint) == nil)
        #expect(block.decryptionKey(subkey)?.publicKey.fingerprint == subkey)
        #expect(block.certificate.keys.map(\.fingerprint) == certificate.keys.map(\.fingerprint))
    }

    @Test("gpg takes a block of ours without the primary secret key, and says that it is not there")
    func ourPrimaryElsewhere() async throws {
        let keys = try await SoftwareKeys()
        let block = keys.withoutPrimary
        let other = try GPG()
        try other.run("--import", try other.folder.write("block", try block.armored(passphrase: nil).utf8)).succeeded()
        let listing = try other.run("--with-colons", "--list-secret-keys").succeeded().output
        let lines = listing.split(separator: "\n").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
        // The fifteenth field: "#" where the secret key is missing, "+" where it is there.
        #expect(lines.filter { ["sec", "ssb"].contains($0[0]) }.map { $0[14] } == ["#", "+", "+"])
    }
}
