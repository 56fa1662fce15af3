import Crypto
import Encodings
import TestSupport
import Testing

@testable import OpenPGP

@Suite("Detached signatures of gpg and ours, over bytes and over texts")
struct SignatureTests {
    private static let lines = "one\ntwo\n\nlast"
    private static let networkLines = "one\r\ntwo\r\n\r\nlast"

    private let gpg: GPG
    private let holder: Holder

    init() async throws {
        gpg = try GPG()
        holder = try await Holder()
        try gpg.run("--import", try gpg.folder.write("certificate.asc", holder.certificate.armored.utf8))
    }

    /// Whether gpg finds a detached signature of ours good over a content.
    private func isGood(_ signature: Signature, over content: some Sequence<UInt8>) throws -> Bool {
        var packet: [UInt8] = []
        packet.append(packet: .signature, signature.body)
        let result = try gpg.run(
            "--status-fd", "1", "--verify", try gpg.folder.write("signature", packet),
            try gpg.folder.write("content", content))
        let isValid = result.output.contains("] VALIDSIG \(holder.primary.publicKey.fingerprint)")
        #expect(isValid == (result.status == 0), "\(result.errors)")
        return isValid
    }

    /// A detached signature that gpg makes over a content.
    private func signature(over content: some Sequence<UInt8>, _ options: String...) throws -> Signature {
        let file = try gpg.folder.write("content", content)
        let result = try gpg.run(
            arguments: options + ["--detach-sign", "--output", gpg.folder.path("signature"), file])
        #expect(result.status == 0, "\(result.errors)")
        let packets = try Packet.sequence(try gpg.folder.read("signature")[...])
        #expect(packets.map(\.tag) == [.signature])
        return try Signature(parsing: try #require(packets.first).body)
    }

    @Test("RFC 9580 §5.2.1.1: gpg verifies our signature over bytes, and refuses it over others")
    func ours() async throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let signature = try await Signature.make(.binary, over: .document(bytes), by: holder.primary, at: Holder.time)
        #expect(try isGood(signature, over: bytes))
        #expect(try !isGood(signature, over: bytes.dropLast()))
        #expect(try !isGood(signature, over: bytes.reversed()))
    }

    @Test("RFC 9580 §5.2.1.2: gpg verifies our signature over a text, whatever ends its lines")
    func oursText() async throws {
        let text = Array(Self.lines.utf8)
        let signature = try await Signature.make(.text, over: .text(text), by: holder.primary, at: Holder.time)
        #expect(try isGood(signature, over: text))
        #expect(try isGood(signature, over: Self.networkLines.utf8))
        #expect(try !isGood(signature, over: (Self.lines + "\n").utf8))
        #expect(try !isGood(signature, over: Self.lines.replacing("two", with: "too").utf8))
        let binary = try await Signature.make(.binary, over: .document(text), by: holder.primary, at: Holder.time)
        #expect(try isGood(binary, over: text))
        #expect(try !isGood(binary, over: Self.networkLines.utf8))
    }

    @Test("RFC 9580 §5.2.1.1: we verify gpg's signature over bytes, and refuse it over others")
    func theirs() throws {
        let signer = try gpg.makeKey()
        let bytes = Array(UInt8.min...UInt8.max)
        let signature = try signature(over: bytes)
        #expect(signature.type == .binary)
        #expect(
            try signature.verifySigner(among: signer.keys, over: .document(bytes), now: .max).fingerprint
                == signer.fingerprint)
        #expect(throws: OpenPGPError.badSignature) {
            try signature.verifySigner(among: signer.keys, over: .document(bytes.dropLast()), now: .max)
        }
        #expect(throws: OpenPGPError.unknownSigner) {
            try signature.verifySigner(among: holder.certificate.keys, over: .document(bytes), now: .max)
        }
    }

    @Test("RFC 9580 §5.2.1.2: we verify gpg's signature over a text, whatever ends its lines")
    func theirsText() throws {
        let signer = try gpg.makeKey()
        for content in [Self.lines, Self.networkLines] {
            let signature = try signature(over: content.utf8, "--textmode")
            #expect(signature.type == .text)
            for text in [Self.lines, Self.networkLines] {
                #expect(
                    try signature.verifySigner(among: signer.keys, over: .text(Array(text.utf8)), now: .max).fingerprint
                        == signer.fingerprint)
            }
            #expect(throws: OpenPGPError.badSignature) {
                try signature.verifySigner(among: signer.keys, over: .text(Array("\(content)\n".utf8)), now: .max)
            }
        }
    }

    @Test("RFC 9580 §9.5: the longer hashes of gpg's are read", arguments: ["SHA384", "SHA512"])
    func longerHashes(name: String) throws {
        let signer = try gpg.makeKey()
        let signature = try signature(over: [1], "--digest-algo", name)
        #expect(
            try signature.verifySigner(among: signer.keys, over: .document([1]), now: .max).fingerprint
                == signer.fingerprint)
    }
}
