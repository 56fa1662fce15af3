import Encodings
@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §6: armor")
struct ArmorTests {
    private static let digits = Array("123456789".utf8)
    private static let armored = """
        -----BEGIN PGP MESSAGE-----

        MTIzNDU2Nzg5
        =Ic8C
        -----END PGP MESSAGE-----

        """

    private func decode(_ text: String) throws -> [UInt8] { try Armor.decode(text, as: .message) }

    @Test("RFC 9580 §6.1, §6.1.1: the checksum of 123456789 is 21CF02, and the armor holds it")
    func knownAnswer() throws {
        #expect(Armor.encode(Self.digits, as: .message) == Self.armored)
        #expect(try decode(Self.armored) == Self.digits)
        #expect(Base64.decode("Ic8C") == [0x21, 0xCF, 0x02])
    }

    @Test("Bytes of every length come back, in lines of 64 characters, with LF and with CR LF")
    func roundTrip() throws {
        var generator = SeededGenerator.announced(by: "ArmorTests.roundTrip")
        for length in Array(1...100) + [1000] {
            let bytes = generator.bytes(length)
            let text = Armor.encode(bytes, as: .publicKey)
            #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count <= 64 })
            #expect(try Armor.decode(text, as: .publicKey) == bytes)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
            #expect(try Armor.decode(lines, as: .publicKey) == bytes)
        }
    }

    @Test("RFC 9580 §6.1: a checksum may be missing")
    func noChecksum() throws {
        #expect(try decode(Self.armored.replacing("=Ic8C\n", with: "")) == Self.digits)
    }

    @Test("RFC 9580 §6.1: a wrong checksum is refused", arguments: ["=Ic8D", "=AAAA", "=Jc8C"])
    func wrongChecksum(line: String) {
        #expect(throws: OpenPGPError.armorChecksum) { try decode(Self.armored.replacing("=Ic8C", with: line)) }
    }

    @Test("A changed character of the content is found by the checksum or is no base 64")
    func changedContent() {
        for index in 0..<12 {
            var text = Array(Self.armored.utf8)
            let at = 29 + index
            text[at] = text[at] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: OpenPGPError.armorChecksum) { try decode(String(decoding: text, as: UTF8.self)) }
        }
    }

    @Test("RFC 9580 §6.2.2: headers are skipped, blank lines around the object too")
    func headers() throws {
        let text = Self.armored.replacing("MESSAGE-----\n\nM", with: "MESSAGE-----\nVersion: x\nComment: y: z\n\nM")
        #expect(try decode(text) == Self.digits)
        #expect(try decode("\n\r\n\(text)\n\n") == Self.digits)
    }

    @Test(
        "RFC 9580 §6.2: anything else is refused",
        arguments: [
            ("", ""), (armored, "\n\n"), (armored, "x"), ("MESSAGE-----\n\n", "MESSAGE-----\n"),
            ("MESSAGE-----\n\n", "MESSAGE-----\nno header\n\n"), ("MESSAGE-----\n\n", "MESSAGE-----\n:x\n\n"),
            ("BEGIN PGP MESSAGE", "BEGIN PGP SIGNATURE"), ("END PGP MESSAGE", "END PGP SIGNATURE"),
            ("-----BEGIN", "----BEGIN"), ("-----BEGIN", " -----BEGIN"), ("-----BEGIN", "text\n-----BEGIN"),
            ("-----END PGP MESSAGE-----\n", "-----END PGP MESSAGE-----\ntext"), ("-----END PGP MESSAGE-----\n", ""),
            ("-----END PGP MESSAGE-----\n", "-----END PGP MESSAGE----- \n"), ("MTIzNDU2Nzg5\n", ""),
            ("MTIzNDU2Nzg5\n", "\n"), ("MTIzNDU2Nzg5", "MTIz NDU2Nzg5"), ("MTIzNDU2Nzg5", "MTIzNDU2Nzg5 "),
            ("MTIzNDU2Nzg5", "MTIz\n\nNDU2Nzg5"), ("MTIzNDU2Nzg5", "MTIzNDU2Nzg"), ("MTIzNDU2Nzg5", "MTIzNDU2Nzh="),
            ("MTIzNDU2Nzg5", "MTIz-_U2Nzg5"), ("=Ic8C", "=Ic8"), ("=Ic8C", "=Ic8Cx"), ("=Ic8C", "=I=8C"),
            ("MTIzNDU2Nzg5", String(repeating: "A", count: 80)),
        ])
    func refused(part: String, replacement: String) {
        let text = part.isEmpty ? "" : Self.armored.replacing(part, with: replacement)
        #expect(throws: OpenPGPError.malformedArmor) { try decode(text) }
    }

    @Test("A message is not read as another kind of object")
    func kinds() {
        #expect(throws: OpenPGPError.malformedArmor) { try Armor.decode(Self.armored, as: .signature) }
        #expect(throws: OpenPGPError.malformedArmor) { try Certificate(armored: Self.armored) }
    }
}
