import Encodings
import Testing

@Suite("RFC 4648 §8: base 16")
struct HexTests {
    @Test("Bytes come back from their digits, from those of the other case only when asked to")
    func roundTrip() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        #expect(Hex.decodeIgnoringCase(Hex.encode(bytes)) == bytes)
        #expect(Hex.decodeIgnoringCase(Hex.encodeUppercase(bytes)) == bytes)
        #expect(Hex.decodeIgnoringCase("aAfF") == [0xAA, 0xFF])
        #expect(Hex.encode([0x0A, 0xFF]) == "0aff")
        #expect(Hex.encodeUppercase([0x0A, 0xFF]) == "0AFF")
    }

    @Test("Anything but pairs of digits is refused", arguments: ["0", "0g", "0x", " 00", "00 ", "00:", "é0"])
    func refused(text: String) {
        #expect(Hex.decode(text) == nil)
        #expect(Hex.decodeIgnoringCase(text) == nil)
    }

    @Test("Upper case is a second spelling, and refused", arguments: ["AA", "aA", "Aa", "0F", "00FF", "fF"])
    func upperCase(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
