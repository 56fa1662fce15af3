@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §5.4, §5.9: announcements and literal data")
struct MessagePartsTests {
    private static let announcement: [UInt8] = [3, 1, 8, 19, 1, 2, 3, 4, 5, 6, 7, 8, 1]

    private func announce(_ change: (inout [UInt8]) -> Void = { _ in }) throws -> OnePassSignature {
        var body = Self.announcement
        change(&body)
        return try OnePassSignature(parsing: body[...])
    }

    @Test("RFC 9580 §5.4: an announcement is read, and every part outside the profile refused by name")
    func announcements() throws {
        let read = try announce()
        #expect(read.type == .text)
        #expect(read.keyID == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(read.encoded == Self.announcement)
        for version in [2, 4, 6] as [UInt8] {
            #expect(throws: OpenPGPError.unsupportedVersion(.onePassSignature, version: version)) {
                try announce { $0[0] = version }
            }
        }
        #expect(throws: OpenPGPError.unexpectedSignatureType(0x40)) { try announce { $0[1] = 0x40 } }
        #expect(throws: OpenPGPError.weakHash(2)) { try announce { $0[2] = 2 } }
        #expect(throws: OpenPGPError.unsupportedHash(11)) { try announce { $0[2] = 11 } }
        #expect(throws: OpenPGPError.unsupportedKeyAlgorithm(22)) { try announce { $0[3] = 22 } }
        #expect(throws: OpenPGPError.severalSignatures) { try announce { $0[12] = 0 } }
        #expect(throws: OpenPGPError.severalSignatures) { try announce { $0[12] = 2 } }
        #expect(throws: OpenPGPError.malformedPacket(.onePassSignature)) { try announce { $0.append(0) } }
        for length in Self.announcement.indices {
            #expect(throws: OpenPGPError.truncated) { try announce { $0.removeSubrange(length...) } }
        }
    }

    @Test("RFC 9580 §5.4: an announcement that does not fit its signature is refused")
    func mismatches() async throws {
        let box = try await MessageForge()
        let malformed = OpenPGPError.malformedPacket(.onePassSignature)
        let otherType = try await box.parts(announced: .binary).whole
        await #expect(throws: malformed) { try await box.open(packets: otherType) }
        let otherKey = try await box.parts(announcedBy: box.sender.authentication).whole
        await #expect(throws: malformed) { try await box.open(packets: otherKey) }
    }

    @Test("RFC 9580 §5.2.1: a signature that is no signature of a document is refused by number")
    func types() async throws {
        let box = try await MessageForge()
        for type in [SignatureType.positiveCertification, .subkeyBinding, .primaryKeyBinding, .keyRevocation] {
            let packets = try await box.parts(type: type).whole
            await #expect(throws: OpenPGPError.unexpectedSignatureType(type.rawValue)) {
                try await box.open(packets: packets)
            }
        }
    }

    @Test("RFC 9580 §5.9: literal data is read in its three formats")
    func literals() throws {
        let content = Array("a\r\nb".utf8)
        for (format, text) in [
            (UInt8(ascii: "b"), content), (UInt8(ascii: "t"), Array("a\nb".utf8)), (0x75, Array("a\nb".utf8)),
        ] {
            let literal = try LiteralData(parsing: ([format, 4] + Array("name".utf8) + [1, 2, 3, 4] + content)[...])
            #expect(literal.format.rawValue == format)
            #expect(literal.content.elementsEqual(content))
            #expect(literal.text == text)
        }
    }

    @Test("RFC 9580 §5.9: other formats and short headers are refused")
    func malformedLiterals() {
        for format in ["l", "1", "m", "B", "\0"] {
            #expect(throws: OpenPGPError.malformedPacket(.literalData)) {
                try LiteralData(parsing: (Array(format.utf8) + [0, 0, 0, 0, 0])[...])
            }
        }
        for body in [[], [0x62], [0x62, 0], [0x62, 0, 0, 0, 0], [0x62, 1, 0, 0, 0, 0], [0x62, 255, 0]] as [[UInt8]] {
            #expect(throws: OpenPGPError.truncated) { try LiteralData(parsing: body[...]) }
        }
    }

    @Test("A signature over another content than the one that stands there is refused")
    func otherContent() async throws {
        let box = try await MessageForge()
        let parts = try await box.parts()
        for content in ["", "content\r\nof two linez", "content\r\n\r\nof two lines", "content\r\nof two lines\n"] {
            let literal = Forge.packet(
                .literalData, LiteralData.encode(Array(content.utf8), format: .utf8, at: Holder.time))
            await #expect(throws: OpenPGPError.badSignature) {
                try await box.open(packets: parts.announcement + literal + parts.signature)
            }
        }
    }
}
