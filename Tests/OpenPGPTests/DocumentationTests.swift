import Crypto
import Foundation
import OpenPGP
import TestSupport
import Testing

@Suite("The examples of the module's documentation")
struct DocumentationTests {
    private let now: UnixSeconds = Holder.time
    private let later: UnixSeconds = Holder.time + 1000

    /// Stands for Swift's in the examples: nobody reads what tests print.
    private func print(_ text: String) { #expect(!text.isEmpty) }

    @Test("The examples run, one after the other, and do what the text says")
    func examples() async throws {
        let bobsHolder = try await Holder(userID: "Bob <bob@example.com>", at: now)
        let (bob, bobsDecryption) = (bobsHolder.certificate, bobsHolder.encryption)

        let primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
        let decryption = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: now)
        let alice = try await Certificate.make(
            primary: primary, flags: [.certify, .sign], userID: "Alice <alice@example.com>",
            subkeys: [.encryption(decryption.publicKey)], at: now)
        print(alice.armored)
        #expect(try Certificate(armored: alice.armored).fingerprint == alice.fingerprint)

        let signed = try await CleartextMessage.sign("I owe Bob 5 EUR.", by: primary, at: now)
        print(signed.encoded)

        let read = try CleartextMessage(parsing: signed.encoded)
        let signer = try read.verify(by: alice, now: now)
        print("\(read.text) - signed by \(signer.fingerprint)")
        #expect(read.text == "I owe Bob 5 EUR." && signer.fingerprint == alice.fingerprint)

        let bobsKey = try bob.key(for: .encrypt, at: now).publicKey
        let sealed = try await EncryptedMessage.seal(
            .text("The code is 4711."), signedBy: primary, to: bobsKey,
            intendedRecipient: bob.fingerprint, at: now)

        let opened = try await EncryptedMessage.open(
            sealed, with: bobsDecryption, signers: alice.keys,
            intendedRecipient: bob.fingerprint, now: now)
        print(String(decoding: opened.content, as: UTF8.self))
        #expect(opened.content == Array("The code is 4711.".utf8))

        let newer = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: later)
        let grown =
            try await alice
            .adding(.encryption(newer.publicKey), by: primary, at: later)
            .revoking(decryption.publicKey.fingerprint, because: .superseded, by: primary, at: later)
        let current = try grown.key(for: .encrypt, at: later)
        #expect(current.fingerprint == newer.publicKey.fingerprint)
        #expect(try grown.key(for: .encrypt, at: later - 1).fingerprint == decryption.publicKey.fingerprint)

        let key = P256.Signing.PrivateKey()
        let carol = try await Certificate.make(
            primary: SigningKeyPair(key, createdAt: now), flags: [.certify, .sign],
            userID: "Carol <carol@example.com>", subkeys: [], at: now)
        let exported = try SecretKeyBlock(carol, keys: [.signing(key)]).armored(passphrase: "correct horse")
        let block = try SecretKeyBlock(armored: exported, passphrase: "correct horse")
        let imported = block.signingKey(block.certificate.fingerprint)
        #expect(imported?.publicKey.fingerprint == carol.fingerprint)
    }

    @Test("Each example in the documentation stands in this file, line for line")
    func sameText() throws {
        let here = URL(filePath: #filePath)
        let page = here.deletingLastPathComponent().appending(path: "../../Sources/OpenPGP/OpenPGP.docc/OpenPGP.md")
        let examples = try String(contentsOf: page, encoding: .utf8).split(separator: "```swift\n").dropFirst()
            .compactMap { $0.split(separator: "```").first }
        #expect(examples.count == 5)
        let source = try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map { $0.trimmed }
        for example in examples {
            let lines = example.split(separator: "\n").map { $0.trimmed }
            #expect(source.firstRange(of: lines) != nil, "\(example)")
        }
    }
}

extension Substring {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
