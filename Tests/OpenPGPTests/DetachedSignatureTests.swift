@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §10.4: detached signatures")
struct DetachedSignatureTests {
    private static let notation = Notation(name: "purpose@example.com", value: "release")
    private let holder: Holder

    init() async throws {
        holder = try await Holder()
    }

    private func sign(_ content: MessageContent) async throws -> DetachedSignature {
        try await DetachedSignature.sign(content, by: holder.primary, notations: [Self.notation], at: Holder.time)
    }

    private func verify(_ signature: DetachedSignature, _ content: [UInt8]) throws {
        let signer = try signature.verify(content, by: holder.certificate, now: Holder.time)
        #expect(signer.fingerprint == holder.certificate.fingerprint)
    }

    @Test("What is signed verifies after the way through either form, with its notations")
    func roundTrip() async throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let made = try await sign(.binary(bytes))
        for read in [try DetachedSignature(parsing: made.encoded), try DetachedSignature(armored: made.armored)] {
            #expect(read.encoded == made.encoded)
            #expect(read.signature.type == .binary)
            #expect(read.signature.subpackets.notations == [Self.notation])
            try verify(read, bytes)
        }
    }

    @Test("RFC 9580 §5.2.1.1: a change of any bit of the content is refused")
    func content() async throws {
        let bytes = Array("two\nlines\r\n".utf8)
        let signature = try await sign(.binary(bytes))
        for index in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[index] ^= 1 << bit
                #expect(throws: OpenPGPError.badSignature, "byte \(index) bit \(bit)") { try verify(signature, other) }
            }
        }
        #expect(throws: OpenPGPError.badSignature) { try verify(signature, []) }
        #expect(throws: OpenPGPError.badSignature) { try verify(signature, bytes + [0]) }
        #expect(throws: OpenPGPError.badSignature) { try verify(signature, Array("two\r\nlines\r\n".utf8)) }
    }

    @Test("RFC 9580 §5.2.1.2: for a text it does not matter how its lines end, and everything else does")
    func texts() async throws {
        let signature = try await sign(.text("two\nlines\n"))
        #expect(signature.signature.type == .text)
        for content in ["two\nlines\n", "two\r\nlines\r\n", "two\r\nlines\n"] {
            try verify(signature, Array(content.utf8))
        }
        for content in ["two\nlines", "two\nlines\n\n", "two\rlines\n", "two \nlines\n", "Two\nlines\n"] {
            #expect(throws: OpenPGPError.badSignature) { try verify(signature, Array(content.utf8)) }
        }
    }

    @Test("A signature by somebody else, or by a key without the flag, is refused")
    func signers() async throws {
        let signature = try await sign(.binary([1]))
        let other = try await Holder()
        #expect(throws: OpenPGPError.unknownSigner) {
            try signature.verify([1], by: other.certificate, now: Holder.time)
        }
        let wrong = try await DetachedSignature.sign(.binary([1]), by: holder.authentication, at: Holder.time)
        #expect(throws: OpenPGPError.wrongKeyFlags) {
            try wrong.verify([1], by: holder.certificate, now: Holder.time)
        }
        #expect(throws: OpenPGPError.badSignatureTime) {
            try signature.verify([1], by: holder.certificate, now: Holder.time - 1)
        }
    }

    @Test("Anything but one signature over a document is refused by name")
    func files() async throws {
        let one = try await sign(.binary([1])).encoded
        func read(_ bytes: [UInt8]) throws { _ = try DetachedSignature(parsing: bytes) }
        try read(one)
        #expect(throws: OpenPGPError.notSigned) { try read([]) }
        #expect(throws: OpenPGPError.severalSignatures) { try read(one + one) }
        #expect(throws: OpenPGPError.trailingData) { try read(one + Forge.packet(.literalData, [0x62, 0])) }
        #expect(throws: OpenPGPError.unexpectedPacket(.literalData)) {
            try read(Forge.packet(.literalData, [0x62, 0]) + one)
        }
        let certification = try #require(
            try CertificateParts(holder.certificate).parts.first { $0.tag == .userID }?.signatures.first)
        #expect(throws: OpenPGPError.unexpectedSignatureType(0x13)) {
            try read(Forge.packet(.signature, certification))
        }
        #expect(throws: OpenPGPError.tooLarge) {
            try read([UInt8](repeating: 0, count: DetachedSignature.maximumSize + 1))
        }
        for length in 1..<one.count {
            #expect(throws: OpenPGPError.truncated) { try read(Array(one.prefix(length))) }
        }
    }

    @Test("RFC 9580 §9.5: a signature over the longer hashes verifies too", arguments: [HashAlgorithm.sha384, .sha512])
    func longerHashes(hash: HashAlgorithm) async throws {
        let body = try await Forge.signature(
            type: .binary, overHashed: [7, 7], by: holder.primary, hash: hash,
            hashed: Forge.created() + Forge.subpacket(33, [4] + holder.certificate.fingerprint.bytes))
        let signature = try DetachedSignature(parsing: Forge.packet(.signature, body))
        try verify(signature, [7, 7])
        #expect(throws: OpenPGPError.badSignature) { try verify(signature, [7, 8]) }
        // The same value under the name of another hash.
        var renamed = body
        renamed[3] = HashAlgorithm.sha256.rawValue
        let other = try DetachedSignature(parsing: Forge.packet(.signature, renamed))
        #expect(throws: OpenPGPError.badSignature) { try verify(other, [7, 7]) }
    }
}
