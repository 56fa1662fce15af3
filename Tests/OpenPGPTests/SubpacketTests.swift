@testable import OpenPGP
import Testing

@Suite("RFC 9580 §5.2.3.7: subpackets")
struct SubpacketTests {
    private static let fingerprint = [4] + [UInt8](repeating: 7, count: 20)

    private func parse(_ area: [UInt8]) throws -> Subpackets { try Subpackets(parsing: area[...]) }

    private func notation(_ name: [UInt8], _ value: [UInt8], flags: [UInt8] = [0x80, 0, 0, 0]) -> [UInt8] {
        var content = flags
        content.append(uint16: name.count)
        content.append(uint16: value.count)
        return content + name + value
    }

    @Test("RFC 9580 §5.2.3.7: a critical subpacket nobody knows is refused by number, another ignored")
    func critical() throws {
        for type in [1, 6, 8, 10, 12, 24, 26, 28, 31, 36, 39, 100, 110, 127] as [UInt8] {
            #expect(throws: OpenPGPError.unknownCriticalSubpacket(type)) {
                try parse(Forge.subpacket(type, [1, 2], critical: true))
            }
            _ = try parse(Forge.subpacket(type, [1, 2]))
        }
    }

    @Test("RFC 9580 §5.2.3.7: an unknown critical subpacket refuses a signature in either area")
    func criticalInBothAreas() {
        let unknown = Forge.subpacket(100, [1], critical: true)
        for body in [
            Forge.signatureBody(hashed: Forge.created() + unknown), Forge.signatureBody(unhashed: unknown),
        ] {
            #expect(throws: OpenPGPError.unknownCriticalSubpacket(100)) { try Signature(parsing: body) }
        }
    }

    @Test("Known subpackets may be critical", arguments: [11, 21, 22, 23, 25, 27, 30] as [UInt8])
    func knownCritical(type: UInt8) throws {
        _ = try parse(Forge.subpacket(type, [1], critical: true))
        let issuer = try parse(Forge.subpacket(33, Self.fingerprint, critical: true)).issuer
        #expect(issuer == Fingerprint(bytes: Self.fingerprint.dropFirst()))
    }

    @Test(
        "A subpacket that must not repeat does not, even as critical and not critical",
        arguments: [2, 3, 9, 11, 16, 27, 29, 30, 32, 33, 100] as [UInt8])
    func duplicates(type: UInt8) {
        let content: [UInt8] =
            switch type {
            case 2, 3, 9: [0, 0, 0, 1]
            case 16: [UInt8](repeating: 1, count: 8)
            case 33: Self.fingerprint
            default: [1]
            }
        let once = Forge.subpacket(type, content)
        #expect(throws: Never.self) { try parse(once) }
        #expect(throws: OpenPGPError.malformedPacket(.signature)) { try parse(once + once) }
        guard type != 100 else { return }
        #expect(throws: OpenPGPError.malformedPacket(.signature)) {
            try parse(once + Forge.subpacket(type, content, critical: true))
        }
    }

    @Test("Notations and intended recipients may repeat and keep their order")
    func repeats() throws {
        let other = [4] + [UInt8](repeating: 8, count: 20)
        let read = try parse(
            Forge.subpacket(35, Self.fingerprint) + Forge.subpacket(20, notation([0x61], [0x62]))
                + Forge.subpacket(35, other) + Forge.subpacket(20, notation([0x63], [])))
        #expect(read.intendedRecipients.map(\.bytes.first) == [7, 8])
        #expect(read.notations == [Notation(name: "a", value: "b"), Notation(name: "c", value: "")])
    }

    @Test(
        "RFC 9580 §5.2.3.24: a notation whose parts do not fill it is refused",
        arguments: [
            ([], .truncated), ([0x80, 0, 0, 0, 0, 1, 0], .truncated), ([0x80, 0, 0, 0, 0, 1, 0, 0], .truncated),
            ([0x80, 0, 0, 0, 0, 1, 0, 2, 0x61, 0x62], .truncated), ([0x80, 0, 0, 0, 255, 255, 255, 255], .truncated),
            ([0x80, 0, 0, 0, 0, 1, 0, 0, 0x61, 0x62], .malformedPacket(.signature)),
        ] as [([UInt8], OpenPGPError)])
    func notationLengths(content: [UInt8], error: OpenPGPError) {
        #expect(throws: error) { try parse(Forge.subpacket(20, content)) }
    }

    @Test("RFC 9580 §5.2.3.24: a critical notation is refused, one that is no text is left out")
    func notations() throws {
        #expect(throws: OpenPGPError.unknownCriticalNotation) {
            try parse(Forge.subpacket(20, notation([0x61], [0x62]), critical: true))
        }
        #expect(try parse(Forge.subpacket(20, notation([0x61], [0x62], flags: [0, 0, 0, 0]))).notations.isEmpty)
        #expect(try parse(Forge.subpacket(20, notation([0xFF], [0x62]))).notations.isEmpty)
        #expect(try parse(Forge.subpacket(20, notation([0x61], [0xC3]))).notations.isEmpty)
    }

    @Test("Lengths of one, two and five octets are read, and none passes the end of the area")
    func lengths() throws {
        let small = [UInt8](repeating: 1, count: 190)
        let large = [UInt8](repeating: 1, count: 9000)
        for content in [small, small + [1], small + [1, 1], large] {
            #expect(try parse(Forge.subpacket(32, content)).embeddedSignature == content)
        }
        #expect(try parse([255, 0, 0, 0, 2, 27, 3]).keyFlags == [.certify, .sign])
        // Two octets reach further here than in packet headers: there are no parts.
        let most = [UInt8](repeating: 1, count: 16318)
        #expect(try parse([254, 255, 32] + most).embeddedSignature == most)
        for area in [[1], [5, 2, 0, 0, 0], [192], [255, 0, 0, 0], [255, 255, 255, 255, 255, 2], [193, 0, 2]]
            as [[UInt8]]
        {
            #expect(throws: OpenPGPError.truncated) { try parse(area) }
        }
        #expect(throws: OpenPGPError.malformedPacket(.signature)) { try parse([0]) }
        #expect(throws: OpenPGPError.malformedPacket(.signature)) { try parse([255, 0, 0, 0, 0]) }
    }

    @Test(
        "A subpacket of fixed size is exactly of that size",
        arguments: [(2, 4), (3, 4), (9, 4), (16, 8), (33, 21), (35, 21)] as [(UInt8, Int)])
    func sizes(type: UInt8, size: Int) {
        let content = [4] + [UInt8](repeating: 1, count: size - 1)
        #expect(throws: Never.self) { try parse(Forge.subpacket(type, content)) }
        #expect(throws: OpenPGPError.malformedPacket(.signature)) { try parse(Forge.subpacket(type, content + [0])) }
        for length in 0..<size {
            #expect(throws: OpenPGPError.truncated) { try parse(Forge.subpacket(type, Array(content.prefix(length)))) }
        }
    }

    @Test("RFC 9580 §5.2.3.35: fingerprints of other versions are refused", arguments: [33, 35] as [UInt8])
    func fingerprintVersions(type: UInt8) {
        for version in [3, 5, 6] as [UInt8] {
            #expect(throws: OpenPGPError.unsupportedVersion(.signature, version: version)) {
                try parse(Forge.subpacket(type, [version] + [UInt8](repeating: 0, count: 32)))
            }
        }
    }

    @Test("RFC 9580 §5.2.3.29, §5.2.3.31: no flags allow nothing, a reason nobody knows is the hardest")
    func flagsAndReasons() throws {
        #expect(try parse(Forge.subpacket(27, [])).keyFlags == [])
        #expect(try parse(Forge.subpacket(27, [0x20, 0xFF])).keyFlags == .authenticate)
        #expect(try parse([]).keyFlags == nil)
        #expect(try parse(Forge.subpacket(29, [1] + Array("text".utf8))).revocationReason == .superseded)
        #expect(try parse(Forge.subpacket(29, [1] + Array("text".utf8))).revocationNote == "text")
        #expect(try parse(Forge.subpacket(29, [1, 0xFF])).revocationNote.isEmpty)
        for reason in [0, 32, 100] as [UInt8] {
            #expect(try parse(Forge.subpacket(29, [reason])).revocationReason == .unspecified)
        }
        #expect(throws: OpenPGPError.truncated) { try parse(Forge.subpacket(29, [])) }
        #expect(!RevocationReason.unspecified.keepsEarlierSignatures)
        #expect(!RevocationReason.compromised.keepsEarlierSignatures)
        #expect(RevocationReason.superseded.keepsEarlierSignatures)
        #expect(RevocationReason.retired.keepsEarlierSignatures)
    }
}
