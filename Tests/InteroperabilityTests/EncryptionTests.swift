import Crypto
import Encodings
import OpenPGP
import TestSupport
import Testing

@Suite("Messages between gpg and us, in and outside the profile")
struct EncryptionTests {
    private let gpg: GPG
    private let signer: Certificate
    private let holder: Holder
    private let content: String

    init() async throws {
        gpg = try GPG()
        signer = try gpg.makeKey()
        holder = try await Holder()
        try gpg.run("--import", try gpg.folder.write("certificate.asc", holder.certificate.armored.utf8))
        content = try gpg.folder.write("content", "one\ntwo\n".utf8)
    }

    /// A message that gpg makes of the content.
    private func message(_ arguments: String...) throws -> [UInt8] {
        let result = try gpg.run(arguments: arguments + ["--output", gpg.folder.path("message"), content])
        #expect(result.status == 0, "\(result.errors)")
        return try gpg.folder.read("message")
    }

    private func open(_ message: [UInt8]) async throws -> [UInt8] {
        try await EncryptedMessage.open(
            message, with: holder.encryption, signers: signer.keys, intendedRecipient: nil, now: .max
        ).content
    }

    @Test("RFC 9580 §5.1, §5.13: gpg finds one session key by ECDH and data with an integrity check in our message")
    func ourPackets() async throws {
        let sealed = try await EncryptedMessage.seal(
            .text("one\ntwo"), signedBy: holder.primary, to: try signer.key(for: .encrypt, at: .max - 1).publicKey,
            intendedRecipient: signer.fingerprint, at: Holder.time)
        let result = try gpg.run("--list-packets", try gpg.folder.write("ours", sealed))
        #expect(result.status == 0, "\(result.errors)")
        let packets = result.output.split(separator: "\n").filter { $0.hasPrefix(":") }
        #expect(packets.count == 5, "\(result.output)")
        #expect(packets.first?.hasPrefix(":pubkey enc packet: version 3, algo 18,") == true)
        #expect(packets.dropFirst().first?.hasPrefix(":encrypted data packet:") == true)
        #expect(result.output.contains("mdc_method: 2"))
        #expect(!result.output.contains(":compressed packet"))
    }

    @Test("gpg refuses our message when a byte of it was changed")
    func ourMessageAltered() async throws {
        let sealed = try await EncryptedMessage.seal(
            .text("one\ntwo"), signedBy: holder.primary, to: try signer.key(for: .encrypt, at: .max - 1).publicKey,
            intendedRecipient: signer.fingerprint, at: Holder.time)
        #expect(
            try gpg.run("--output", gpg.folder.path("out"), "--decrypt", try gpg.folder.write("a", sealed)).status == 0)
        for index in stride(from: sealed.count - 1, to: 0, by: -37) {
            var altered = sealed
            altered[index] ^= 1
            let file = try gpg.folder.write("altered", altered)
            #expect(try gpg.run("--output", gpg.folder.path("out"), "--decrypt", file).status != 0, "byte \(index)")
        }
    }

    @Test("A message of gpg's to several, us among them, opens")
    func severalRecipients() async throws {
        for recipients in [
            ["--recipient", "\(signer.fingerprint)", "--recipient", "\(holder.certificate.fingerprint)"],
            ["--recipient", "\(holder.certificate.fingerprint)", "--recipient", "\(signer.fingerprint)"],
        ] {
            let result = try gpg.run(
                arguments: recipients + [
                    "--compress-algo", "none", "--sign", "--encrypt", "--output", gpg.folder.path("message"), content,
                ])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try await open(try gpg.folder.read("message")) == Array("one\ntwo\n".utf8))
        }
    }

    @Test("Messages of gpg's that are not of the profile are refused by name")
    func outsideProfile() async throws {
        let us = "\(holder.certificate.fingerprint)"
        let unsigned = try message("--compress-algo", "none", "--recipient", us, "--encrypt")
        await #expect(throws: OpenPGPError.notSigned) { try await open(unsigned) }
        let compressed = try message("--compress-algo", "zip", "--recipient", us, "--sign", "--encrypt")
        await #expect(throws: OpenPGPError.compressedData) { try await open(compressed) }
        let hidden = try message("--compress-algo", "none", "--throw-keyids", "--recipient", us, "--sign", "--encrypt")
        await #expect(throws: OpenPGPError.notForThisKey) { try await open(hidden) }
        let others = try message(
            "--compress-algo", "none", "--recipient", "\(signer.fingerprint)", "--sign", "--encrypt")
        await #expect(throws: OpenPGPError.notForThisKey) { try await open(others) }
        let symmetric = try message("--compress-algo", "none", "--passphrase", "secret", "--symmetric")
        await #expect(throws: OpenPGPError.unexpectedPacket(PacketTag(rawValue: 3))) { try await open(symmetric) }
        let signed = try message("--compress-algo", "none", "--sign")
        await #expect(throws: OpenPGPError.notEncrypted) { try await open(signed) }
        let cipher = try message(
            "--compress-algo", "none", "--cipher-algo", "AES128", "--recipient", us, "--sign", "--encrypt")
        await #expect(throws: OpenPGPError.unsupportedCipher(7)) { try await open(cipher) }
    }

    @Test("A message of gpg's with a second signature is refused")
    func twoSignatures() async throws {
        #expect(try gpg.run("--quick-generate-key", "second@example.com", "nistp256", "sign", "0").status == 0)
        let message = try message(
            "--compress-algo", "none", "--local-user", "peer@example.com", "--local-user", "second@example.com",
            "--recipient", "\(holder.certificate.fingerprint)", "--sign", "--encrypt")
        await #expect(throws: OpenPGPError.severalSignatures) { try await open(message) }
    }

    @Test("A stranger's message, made with gpg, is refused")
    func stranger() async throws {
        let message = try message(
            "--compress-algo", "none", "--recipient", "\(holder.certificate.fingerprint)", "--sign", "--encrypt")
        await #expect(throws: OpenPGPError.unknownSigner) {
            try await EncryptedMessage.open(
                message, with: holder.encryption, signers: holder.certificate.keys, intendedRecipient: nil, now: .max)
        }
        #expect(try await open(message) == Array("one\ntwo\n".utf8))
    }
}
