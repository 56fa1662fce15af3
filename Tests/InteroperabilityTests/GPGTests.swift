import Crypto
import Encodings
import OpenPGP
import TestSupport
import Testing

@Suite("gpg reads what we write, and we read what gpg writes")
struct GPGTests {
    @Test("gpg imports our certificate and lists its three keys")
    func importsCertificate() async throws {
        let holder = try await Holder()
        let gpg = try GPG()
        try gpg.run("--import", try gpg.folder.write("certificate.asc", holder.certificate.armored.utf8))
        let listing = try gpg.run("--with-colons", "--check-sigs", "--with-subkey-fingerprint")
        #expect(listing.status == 0)
        for key in holder.certificate.keys { #expect(listing.output.contains("fpr:::::::::\(key.fingerprint):")) }
        #expect(listing.output.contains("usr_1 <enr_1@login.example.com>"))
        #expect(listing.output.split(separator: "\n").count { $0.hasPrefix("sig:!:") } == 3)
    }

    @Test("RFC 9580 §7: gpg verifies our cleartext-signed text")
    func verifiesCleartext() async throws {
        let holder = try await Holder()
        let text = "Countersign receipt v1\n- dash\nFrom here\n\nlast line"
        let message = try await CleartextMessage.sign(text, by: holder.primary, at: Holder.time)
        let gpg = try GPG()
        try gpg.run("--import", try gpg.folder.write("certificate.asc", holder.certificate.armored.utf8))
        let result = try gpg.run(
            "--status-fd", "1", "--output", gpg.folder.path("out"), "--verify",
            try gpg.folder.write("receipt.asc", message.encoded.utf8))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("VALIDSIG \(holder.primary.publicKey.fingerprint)"))
        #expect(String(decoding: try gpg.folder.read("out"), as: UTF8.self) == text + "\n")
    }

    @Test("gpg decrypts and verifies our message")
    func decryptsMessage() async throws {
        let gpg = try GPG()
        let recipient = try gpg.makeKey()
        let holder = try await Holder()
        try gpg.run("--import", try gpg.folder.write("certificate.asc", holder.certificate.armored.utf8))
        for content in [MessageContent.binary([1, 2, 10, 13, 0]), .text("one\ntwo\nthree")] {
            let message = try await EncryptedMessage.seal(
                content, signedBy: holder.primary,
                to: try recipient.key(for: .encrypt, at: .max - 1).publicKey,
                intendedRecipient: recipient.fingerprint, at: Holder.time)
            let result = try gpg.run(
                "--status-fd", "1", "--output", gpg.folder.path("out"), "--decrypt",
                try gpg.folder.write("message.pgp", message))
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("VALIDSIG \(holder.primary.publicKey.fingerprint)"))
            let expected: [UInt8]
            switch content {
            case .binary(let bytes): expected = bytes
            case .text(let text): expected = Array(text.utf8)
            }
            #expect(try gpg.folder.read("out") == expected)
        }
    }

    @Test("We open what gpg signed and encrypted, text and binary")
    func opensMessages() async throws {
        let gpg = try GPG()
        let signer = try gpg.makeKey()
        let holder = try await Holder()
        try gpg.run("--import", try gpg.folder.write("certificate.asc", holder.certificate.armored.utf8))
        let input = try gpg.folder.write("text", "one\ntwo\n".utf8)
        for options in [["--textmode"], ["--no-textmode"]] {
            let result = try gpg.run(
                arguments: options + [
                    "--compress-algo", "none", "--recipient", "\(holder.certificate.fingerprint)", "--sign",
                    "--encrypt",
                    "--output", gpg.folder.path("message"), input,
                ])
            #expect(result.status == 0, "\(result.errors)")
            let message = try gpg.folder.read("message")
            let opened = try await EncryptedMessage.open(
                message, with: holder.encryption, signers: signer.keys, intendedRecipient: nil, now: .max)
            #expect(opened.content == Array("one\ntwo\n".utf8))
            #expect(opened.signer.fingerprint == signer.fingerprint)
            // gpg 2.2 does not write the intended-recipient subpacket: where one is required, that alone refuses.
            await #expect(throws: OpenPGPError.wrongIntendedRecipient) {
                try await EncryptedMessage.open(
                    message, with: holder.encryption, signers: signer.keys,
                    intendedRecipient: holder.certificate.fingerprint, now: .max)
            }
        }
    }

    @Test("RFC 9580 §7: we verify gpg's cleartext-signed text")
    func readsCleartext() async throws {
        let gpg = try GPG()
        let signer = try gpg.makeKey()
        let input = try gpg.folder.write("text", "one\n- two\n-----three\n\nlast".utf8)
        try gpg.run("--clearsign", "--output", gpg.folder.path("signed"), input)
        let message = try CleartextMessage(parsing: String(decoding: try gpg.folder.read("signed"), as: UTF8.self))
        #expect(message.text == "one\n- two\n-----three\n\nlast")
        #expect(try message.verify(by: signer, now: .max).fingerprint == signer.fingerprint)
    }
}

extension GPG {
    /// Makes a P-256 key that signs and one that encrypts, and exports the certificate.
    func makeKey() throws -> Certificate {
        try run("--quick-generate-key", "peer@example.com", "nistp256", "sign", "0")
        let listing = try run("--with-colons", "--list-keys", "peer@example.com").output
        let fingerprint = try #require(listing.split(separator: "\n").first { $0.hasPrefix("fpr:") })
            .split(separator: ":", omittingEmptySubsequences: false)[9]
        try run("--quick-add-key", String(fingerprint), "nistp256", "encr", "0")
        return try Certificate(armored: try run("--armor", "--export", String(fingerprint)).output)
    }
}
