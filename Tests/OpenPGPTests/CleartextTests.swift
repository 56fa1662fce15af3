@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §7: cleartext-signed messages")
struct CleartextTests {
    private static let text = "Title\n- dash\n-----BEGIN PGP SIGNATURE-----\n\n-\n --\n\tü € 😀\nlast"
    private static let now = Holder.time

    private let holder: Holder
    private let message: CleartextMessage

    init() async throws {
        holder = try await Holder()
        message = try await CleartextMessage.sign(Self.text, by: holder.primary, at: Self.now)
    }

    private func verify(_ message: String) throws {
        let read = try CleartextMessage(parsing: message)
        let signer = try read.verify(by: holder.certificate, now: Self.now)
        #expect(signer.fingerprint == holder.certificate.fingerprint)
    }

    @Test("What is signed is read with the same bytes and verifies, with LF and with CR LF")
    func roundTrip() throws {
        let read = try CleartextMessage(parsing: message.encoded)
        #expect(read.text == Self.text)
        #expect(read.encoded == message.encoded)
        try verify(message.encoded)
        let lines = message.encoded.split(separator: "\n", omittingEmptySubsequences: false)
        let other = lines.joined(separator: "\r\n")
        #expect(try CleartextMessage(parsing: other).text == Self.text)
        try verify(other)
    }

    @Test("RFC 9580 §7.1: lines that begin with a dash are escaped, so that none can end the text")
    func dashes() {
        let lines = message.encoded.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.prefix(3) == ["-----BEGIN PGP SIGNED MESSAGE-----", "Hash: SHA256", ""])
        #expect(
            lines[3..<11] == [
                "Title", "- - dash", "- -----BEGIN PGP SIGNATURE-----", "", "- -", " --", "\tü € 😀", "last",
            ])
        #expect(lines[11] == "-----BEGIN PGP SIGNATURE-----")
        #expect(message.encoded.hasSuffix("-----END PGP SIGNATURE-----\n"))
    }

    @Test(
        "Texts of every shape come back",
        arguments: ["", "a", "\n", "\na", "a\n", "\n\n\n", "-", "- ", "--\n-", " a", "From me", "é"])
    func shapes(text: String) async throws {
        guard !text.hasSuffix(" ") else {
            await #expect(throws: OpenPGPError.malformedCleartext) {
                try await CleartextMessage.sign(text, by: holder.primary, at: Self.now)
            }
            return
        }
        let signed = try await CleartextMessage.sign(text, by: holder.primary, at: Self.now)
        #expect(try CleartextMessage(parsing: signed.encoded).text == text)
        try verify(signed.encoded)
    }

    @Test("RFC 9580 §7.1: text that the signature would not cover as it stands is neither signed nor read")
    func blanks() async throws {
        for text in ["a ", "a\t", "a \nb", "a\nb\t", " ", "\t\n", "a\rb", "a\r\nb", "a\r"] {
            await #expect(throws: OpenPGPError.malformedCleartext) {
                try await CleartextMessage.sign(text, by: holder.primary, at: Self.now)
            }
        }
        for blank in [" ", "\t", " \t ", " \r", "\r\r"] {
            let padded = message.encoded.replacing("Title\n", with: "Title\(blank)\n")
            #expect(throws: OpenPGPError.malformedCleartext) { try CleartextMessage(parsing: padded) }
        }
    }

    @Test("A change of any byte of the text is refused")
    func everyByte() throws {
        let bytes = Array(message.encoded.utf8)
        let start = try #require(bytes.firstRange(of: Array("\n\n".utf8))).upperBound
        // The line end before the signature is one of the bytes: without it the text would not end.
        let end = try #require(bytes.firstRange(of: Array("\n-----BEGIN PGP SIGNATURE".utf8))).lowerBound
        #expect(end - start == Self.text.utf8.count + 2 * 3)
        for index in start...end {
            for change in [0x01, 0x02, 0x20, 0x80] as [UInt8] {
                var other = bytes
                other[index] ^= change
                // Bytes that are no longer UTF-8 cannot be handed over as a text at all.
                guard let text = String(validating: other, as: UTF8.self) else { continue }
                #expect(throws: OpenPGPError.self, "byte \(index) ^ \(change)") { try verify(text) }
            }
        }
    }

    @Test("Of all texts with one byte left out, only those are accepted that say the same")
    func everyByteLeftOut() throws {
        let bytes = Array(message.encoded.utf8)
        for index in bytes.indices {
            var shorter = bytes
            shorter.remove(at: index)
            guard let text = String(validating: shorter, as: UTF8.self), (try? verify(text)) != nil else { continue }
            #expect(try CleartextMessage(parsing: text).text == Self.text, "without byte \(index)")
        }
    }

    @Test("A line that is put in, left out or moved is refused")
    func lines() throws {
        for (line, replacement) in [
            ("Title\n", ""), ("Title\n", "Title\n\n"), ("Title\n", "Title\nmore\n"), ("\nlast\n", "\n"),
            ("last\n", "last\n\n"), ("last\n", "last\nmore\n"), ("Title\n", "\nTitle\n"), ("- -\n", ""),
        ] {
            #expect(throws: OpenPGPError.badSignature) {
                try verify(message.encoded.replacing(line, with: replacement, maxReplacements: 1))
            }
        }
    }

    @Test(
        "RFC 9580 §7: any header but the one of the hash is refused, so that nothing unsigned passes for text",
        arguments: [
            ("Hash: SHA256\n", ""), ("Hash: SHA256\n", "Hash: SHA512\n"), ("Hash: SHA256\n", "Hash: SHA1\n"),
            ("Hash: SHA256\n", "Hash: SHA256,SHA512\n"), ("Hash: SHA256\n", "hash: SHA256\n"),
            ("Hash: SHA256\n", "Hash: SHA256 \n"), ("Hash: SHA256\n", "Hash: SHA256\nHash: SHA256\n"),
            ("Hash: SHA256\n", "Hash: SHA256\nComment: pay 1000\n"), ("Hash: SHA256\n", "NotDashEscaped: \n"),
            ("Hash: SHA256\n\n", "Hash: SHA256\n"), ("Hash: SHA256\n\n", "Hash: SHA256\n \n"),
            ("-----BEGIN PGP SIGNED", "----BEGIN PGP SIGNED"), ("-----BEGIN PGP SIGNED", "\n-----BEGIN PGP SIGNED"),
            ("-----BEGIN PGP SIGNED", "I agree:\n-----BEGIN PGP SIGNED"),
            ("SIGNED MESSAGE-----", "SIGNED MESSAGE----- "),
            ("\n- - dash", "\n-dash"), ("\n- - dash", "\n-"), ("\n- - dash", "\n-\tdash"),
            ("last\n-----BEGIN PGP SIGNATURE-----", "last\n-----BEGIN PGP SIGNATURE"),
        ])
    func headers(part: String, replacement: String) {
        #expect(throws: OpenPGPError.malformedCleartext) {
            try CleartextMessage(parsing: message.encoded.replacing(part, with: replacement, maxReplacements: 1))
        }
    }

    @Test("RFC 9580 §7: the header must name the hash of the signature", arguments: [HashAlgorithm.sha384, .sha512])
    func longerHashes(hash: HashAlgorithm) async throws {
        let body = try await Forge.signature(
            type: .text, overHashed: Array("one\r\ntwo".utf8), by: holder.primary, hash: hash,
            hashed: Forge.created(Self.now) + Forge.subpacket(33, [4] + holder.certificate.fingerprint.bytes))
        let made = try CleartextMessage(text: "one\ntwo", signature: try Signature(parsing: body)).encoded
        #expect(made.contains("\nHash: \(hash.textName)\n\n"))
        try verify(made)
        for other in ["SHA256", "SHA1", "sha512", "SHA512,SHA384", ""] where other != hash.textName {
            let renamed = made.replacing("Hash: \(hash.textName)", with: "Hash: \(other)")
            #expect(throws: OpenPGPError.malformedCleartext) { try CleartextMessage(parsing: renamed) }
        }
    }

    @Test("Text behind the signature, and a broken armor, are refused")
    func endings() {
        let text = message.encoded
        for other in [text + "more", text + text, String(text.dropLast(4)), text + "\n\n \n"] {
            #expect(throws: OpenPGPError.malformedArmor) { try CleartextMessage(parsing: other) }
        }
        #expect(throws: Never.self) { try verify(text + "\n\n") }
        for other in ["", "\n", Self.text] {
            #expect(throws: OpenPGPError.malformedCleartext) { try CleartextMessage(parsing: other) }
        }
    }

    @Test("Anything but one signature of a text below the text is refused")
    func signatures() async throws {
        let binary = try await Signature.make(
            .binary, over: .text(Array(Self.text.utf8)), by: holder.primary, at: Self.now)
        let signature = Forge.packet(.signature, message.signature.body)
        func with(_ packets: [UInt8]) throws -> String {
            let start = try #require(message.encoded.ranges(of: "\n-----BEGIN PGP SIGNATURE").last).lowerBound
            return message.encoded[...start] + Armor.encode(packets, as: .signature)
        }
        try verify(try with(signature))
        try verify(try with(Forge.packet(.marker, "PGP".utf8) + signature))
        for (packets, error) in [
            (Forge.packet(.signature, binary.body), .unexpectedSignatureType(0)),
            (signature + signature, .severalSignatures),
            (Forge.packet(.userID, [0x61]), .unexpectedPacket(.userID)), (signature.dropLast(), .truncated),
            (Forge.packet(.marker, "PGP".utf8), .notSigned), (signature + [0], .malformedHeader),
            (Forge.packet(.signature, [6]), .unsupportedVersion(.signature, version: 6)),
        ] as [([UInt8], OpenPGPError)] {
            #expect(throws: error) { try CleartextMessage(parsing: try with(packets)) }
        }
    }

    @Test("A signature by a key of another certificate, or one that may not sign, is refused")
    func signers() async throws {
        let other = try await Holder()
        #expect(throws: OpenPGPError.unknownSigner) { try message.verify(by: other.certificate, now: Self.now) }
        let authenticated = try await CleartextMessage.sign(Self.text, by: holder.authentication, at: Self.now)
        #expect(throws: OpenPGPError.wrongKeyFlags) { try authenticated.verify(by: holder.certificate, now: Self.now) }
        #expect(throws: OpenPGPError.badSignatureTime) { try message.verify(by: holder.certificate, now: Self.now - 1) }
    }

    @Test("A text that gpg signed in the clear verifies, the lines it escapes beyond need among it")
    func fromGPG() throws {
        let certificate = try Certificate(armored: PeerFixture.certificate)
        let read = try CleartextMessage(parsing: PeerFixture.cleartext)
        #expect(read.text == PeerFixture.signedText)
        #expect("\(try read.verify(by: certificate, now: PeerFixture.time).fingerprint)" == PeerFixture.fingerprint)
        #expect(throws: OpenPGPError.badSignature) {
            try CleartextMessage(parsing: PeerFixture.cleartext.replacing("last line", with: "last lime"))
                .verify(by: certificate, now: PeerFixture.time)
        }
    }

    @Test("A message beyond its size is refused before anything is read")
    func size() {
        let text = String(repeating: "a", count: CleartextMessage.maximumSize + 1)
        #expect(throws: OpenPGPError.tooLarge) { try CleartextMessage(parsing: text) }
        #expect(throws: OpenPGPError.malformedCleartext) { try CleartextMessage(parsing: text.dropLast()) }
    }
}
