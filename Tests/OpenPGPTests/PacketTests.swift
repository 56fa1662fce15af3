@testable import OpenPGP
import Testing

@Suite("RFC 9580 §4: packets")
struct PacketTests {
    private func parse(_ bytes: [UInt8]) throws -> [Packet] { try Packet.sequence(bytes[...]) }

    @Test(
        "RFC 9580 §4.2.1: lengths of one, two and five octets are written shortest and read back",
        arguments: [(0, 1), (1, 1), (191, 1), (192, 2), (8383, 2), (8384, 5), (70000, 5)])
    func lengths(length: Int, octets: Int) throws {
        let body = [UInt8](repeating: 7, count: length)
        let bytes = Forge.packet(.userID, body)
        #expect(bytes.count == 1 + octets + length)
        let packets = try parse(bytes + bytes)
        #expect(packets.map(\.tag) == [.userID, .userID])
        #expect(packets.allSatisfy { $0.body.elementsEqual(body) })
    }

    @Test("RFC 9580 §4.2.1: a length in more octets than it needs is read")
    func longForms() throws {
        #expect(try parse([0xCD, 255, 0, 0, 0, 1, 9]).map { Array($0.body) } == [[9]])
    }

    @Test("RFC 9580 §4.2.2: legacy headers with lengths of one, two and four octets are read")
    func legacy() throws {
        for header in [[0xB4, 2], [0xB5, 0, 2], [0xB6, 0, 0, 0, 2]] as [[UInt8]] {
            let packets = try parse(header + [5, 6])
            #expect(packets.map(\.tag) == [.userID])
            #expect(packets.map { Array($0.body) } == [[5, 6]])
        }
    }

    @Test("RFC 9580 §4.2.2: a legacy length that only the end tells is read for data and refused for others")
    func indeterminate() throws {
        let packets = try parse([0xAF, 1, 2, 3])
        #expect(packets.map(\.tag) == [.literalData])
        #expect(packets.map { Array($0.body) } == [[1, 2, 3]])
        #expect(throws: OpenPGPError.malformedHeader) { try parse([0x8B, 1, 2, 3]) }
        #expect(throws: OpenPGPError.malformedHeader) { try parse([0x9B, 1, 2, 3]) }
    }

    @Test(
        "RFC 9580 §4.2: a first bit of zero and the reserved packet type are refused",
        arguments: [[0x00], [0x7F, 0], [0x42, 0], [0xC0, 0], [0x80, 0], [0x83]] as [[UInt8]])
    func headers(bytes: [UInt8]) {
        #expect(throws: OpenPGPError.malformedHeader) { try parse(bytes) }
    }

    @Test("RFC 9580 §4.2.1.4: parts of data are joined, the first of at least 512 octets")
    func parts() throws {
        let first = [UInt8](repeating: 1, count: 512)
        let whole = try parse([0xCB, 0xE9] + first + [0xE1, 2, 2] + [0xE0, 3] + [1, 4])
        #expect(whole.map { Array($0.body) } == [first + [2, 2, 3, 4]])
        let empty = try parse([0xCB, 0xE9] + first + [0])
        #expect(empty.map { Array($0.body) } == [first])
        #expect(throws: OpenPGPError.malformedHeader) {
            try parse([0xCB, 0xE8] + [UInt8](repeating: 1, count: 256) + [0])
        }
    }

    @Test(
        "RFC 9580 §4.2.1.4: parts of anything but data are refused",
        arguments: [1, 2, 4, 6, 10, 13, 14, 19, 60] as [UInt8])
    func partsOfOthers(tag: UInt8) {
        #expect(throws: OpenPGPError.malformedHeader) {
            try parse([0xC0 | tag, 0xE9] + [UInt8](repeating: 1, count: 512) + [0])
        }
    }

    @Test("Parts that never end, or promise a gigabyte, are refused as cut off")
    func endlessParts() {
        let first = [UInt8](repeating: 1, count: 512)
        for bytes in [[0xCB, 0xE9] + first, [0xCB, 0xE9] + first + [0xE4, 0], [0xCB, 0xFE], [0xCB, 0xFE] + first] {
            #expect(throws: OpenPGPError.truncated) { try parse(bytes) }
        }
    }

    @Test("A packet cut off anywhere is refused as cut off")
    func truncated() {
        let samples: [[UInt8]] = [
            Forge.packet(.userID, [1, 2, 3]), Forge.packet(.userID, [UInt8](repeating: 0, count: 200)),
            [0xCD, 255, 0, 0, 0, 2, 1, 1], [0xB5, 0, 2, 1, 1], [0xB6, 0, 0, 0, 2, 1, 1],
            [0xCD, 255, 255, 255, 255, 255],
            [0xB6, 255, 255, 255, 255, 0],
        ]
        for sample in samples {
            for length in 1..<sample.count {
                #expect(throws: OpenPGPError.truncated) { try parse(Array(sample.prefix(length))) }
            }
        }
        #expect(throws: OpenPGPError.truncated) { try parse([0xCD, 255, 255, 255, 255, 255, 0]) }
    }

    @Test("RFC 9580 §5.8: marker packets are dropped, and counted with all others")
    func markers() throws {
        let marker = Forge.packet(.marker, "PGP".utf8)
        #expect(try parse(marker + Forge.packet(.userID, [1]) + marker).map(\.tag) == [.userID])
        #expect(try parse([]).isEmpty)
        let most = Array([[UInt8]](repeating: marker, count: Packet.maximumCount).joined())
        #expect(try parse(most).isEmpty)
        #expect(throws: OpenPGPError.tooLarge) { try parse(most + marker) }
    }

    @Test("RFC 9580 §3.2: an integer is exactly as long as its bit count says, and no longer than allowed")
    func integers() throws {
        func read(_ bytes: [UInt8]) throws -> [UInt8] {
            var reader = ByteReader(bytes)
            return Array(try reader.mpi(atMost: 9, in: .signature))
        }
        #expect(try read([0, 0]) == [])
        #expect(try read([0, 1, 1]) == [1])
        #expect(try read([0, 9, 1, 0xFF]) == [1, 0xFF])
        let malformed: [[UInt8]] = [
            [0, 8, 0x7F], [0, 7, 0xFF], [0, 1, 0], [0, 9, 0, 1], [0, 9, 2, 0], [0, 10, 2, 0], [0xFF, 0xFF],
        ]
        for bytes in malformed { #expect(throws: OpenPGPError.malformedPacket(.signature)) { try read(bytes) } }
        for bytes in [[], [0], [0, 9], [0, 9, 1]] as [[UInt8]] {
            #expect(throws: OpenPGPError.truncated) { try read(bytes) }
        }
        var written: [UInt8] = []
        written.append(mpi: [0, 0, 1, 0xFF])
        written.append(mpi: [0, 0])
        #expect(written == [0, 9, 1, 0xFF, 0, 0])
    }
}
