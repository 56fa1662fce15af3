import CountersignCore
import Encodings
import TestSupport
import Testing

@Suite("A client's logo is a still PNG, of which nothing is kept but the picture")
struct LogoTests {
    /// A small picture, and what is wrong with each change of it.
    private static let header = PNGFile.header(width: 3, height: 2)
    private static let data = PNGFile.part("IDAT", PNGFile.zlib(Array(repeating: 0, count: 20)))

    private static func file(_ parts: [UInt8]...) -> [UInt8] { PNGFile.signature + parts.flatMap { $0 } }

    private static func paletted(_ parts: [UInt8]...) -> [UInt8] {
        PNGFile.signature + PNGFile.header(width: 3, height: 2, depth: 2, kind: 3) + parts.flatMap { $0 }
            + PNGFile.part("IDAT", PNGFile.zlib([0, 0, 0, 0])) + PNGFile.end
    }

    @Test("A picture is kept byte for byte, also with a palette, what of it is transparent, and data in parts")
    func kept() throws {
        let plain = PNGFile.picture(width: 120, height: 44)
        let logo = try Logo(png: plain)
        #expect(logo.bytes == plain && logo.width == 120 && logo.height == 44)
        #expect(LogoHash(hex: logo.hash.hex) == logo.hash)
        let compressed = PNGFile.zlib([0, 0, 0, 0])
        let whole = Self.file(
            PNGFile.header(width: 3, height: 2, depth: 1, kind: 3), PNGFile.part("PLTE", [255, 0, 0, 0, 0, 255]),
            PNGFile.part("tRNS", [0, 255]), PNGFile.part("IDAT", Array(compressed.prefix(1))),
            PNGFile.part("IDAT", []), PNGFile.part("IDAT", Array(compressed.dropFirst())), PNGFile.end)
        #expect(try Logo(png: whole).bytes == whole)
    }

    // Spec: RFC 2083 §3.3.
    @Test("Texts, profiles, places and further frames are left out: what is served holds nothing but the picture")
    func leftOut() throws {
        let more = ["tEXt", "zTXt", "iTXt", "eXIf", "iCCP", "gAMA", "acTL", "fcTL", "fdAT", "prVt"].map {
            PNGFile.part($0, Array("<script>alert(1)</script>".utf8))
        }
        let all = more.flatMap { $0 }
        let plain = Self.file(Self.header, Self.data, PNGFile.end)
        let dressed = Self.file(Self.header, all, Self.data, all, PNGFile.end)
        #expect(try Logo(png: dressed).bytes == plain)
        #expect(try Logo(png: dressed).hash == Logo(png: plain).hash)
    }

    @Test("A file has 64 KiB at most")
    func size() throws {
        let rest = Self.file(Self.header, Self.data, PNGFile.end).count + 12
        func file(of size: Int) -> [UInt8] {
            Self.file(
                Self.header, PNGFile.part("tEXt", Array(repeating: 65, count: size - rest)), Self.data, PNGFile.end)
        }
        #expect(file(of: 65_536).count == 65_536)
        #expect(throws: Never.self) { try Logo(png: file(of: 65_536)) }
        #expect(throws: Logo.Refusal.tooLarge(bytes: 65_537)) { try Logo(png: file(of: 65_537)) }
    }

    @Test("RFC 2083 §3.1: what does not begin as a PNG does is refused")
    func signature() {
        let files: [[UInt8]] = [
            [], Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), Array("GIF89a".utf8),
            [0xFF, 0xD8, 0xFF, 0xE0], Array(PNGFile.signature.dropLast()), [0] + PNGFile.picture(width: 1, height: 1),
            Array("\u{89}PNG\n\u{1A}\n".utf8),
        ]
        for file in files { #expect(throws: Logo.Refusal.notPNG) { try Logo(png: file) } }
        var mangled = PNGFile.picture(width: 1, height: 1)
        mangled[4] = 0x0A
        #expect(throws: Logo.Refusal.notPNG) { try Logo(png: mangled) }
    }

    @Test("A picture has at most 1024 pixels each way: browsers would need memory for all of them")
    func sides() {
        func file(_ width: Int, _ height: Int) -> [UInt8] {
            Self.file(PNGFile.header(width: width, height: height), Self.data, PNGFile.end)
        }
        #expect(throws: Never.self) { try Logo(png: file(1024, 1024)) }
        for (width, height) in [(1025, 1), (1, 1025), (0x7FFF_FFFF, 0x7FFF_FFFF)] {
            #expect(throws: Logo.Refusal.tooManyPixels(width: UInt32(width), height: UInt32(height))) {
                try Logo(png: file(width, height))
            }
        }
    }

    // Spec: RFC 2083 §2.1, §3.2, §3.4, §4.1.1, §4.1.2, §4.2.9, §4.3 and §5; RFC 1950 §2.2.
    @Test("Whatever is not as a PNG must be is refused, at the part where it is", arguments: faulty)
    func faults(_ faulty: Faulty) {
        #expect(throws: Logo.Refusal.damaged(faulty.fault, at: faulty.offset)) { try Logo(png: faulty.file) }
    }

    /// A file with one fault.
    struct Faulty: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let file: [UInt8]
        let fault: PNGFault
        let offset: Int

        init(_ what: String, _ file: [UInt8], _ fault: PNGFault, _ offset: Int) {
            testDescription = what
            (self.file, self.fault, self.offset) = (file, fault, offset)
        }
    }

    private static let faulty: [Faulty] = {
        let end = PNGFile.end
        let colours = PNGFile.part("PLTE", [1, 2, 3])
        let clear = PNGFile.part("tRNS", [0])
        let text = PNGFile.part("tEXt", [65])
        func headed(_ depth: UInt8, _ kind: UInt8, _ rest: [UInt8] = [0, 0, 0]) -> [UInt8] {
            file(PNGFile.header(width: 3, height: 2, depth: depth, kind: kind, rest: rest), data, end)
        }
        func packed(_ bytes: [UInt8]) -> [UInt8] { file(header, PNGFile.part("IDAT", bytes), end) }
        var longer = file(header, data, end)
        longer[33] = 0x7F
        var endless = file(header, data, end)
        endless[32 + 4] += 1
        var wrong = file(header, data, end)
        wrong[29] ^= 1
        return [
            Faulty("nothing but the beginning", file(), .length, 8),
            Faulty("no end", file(header, data), .length, 33 + data.count),
            Faulty("a length beyond the file", longer, .length, 33),
            Faulty("a length that is one too much", endless, .checksum, 33),
            Faulty("half a part", Array(file(header, data, end).dropLast()), .length, 33 + data.count),
            Faulty("a wrong checksum", wrong, .checksum, 8),
            Faulty("a type that is no word", file(header, PNGFile.part("ab1c", []), data, end), .type, 33),
            Faulty("a part that must be known", file(header, PNGFile.part("CgBI", []), data, end), .type, 33),
            Faulty("something before the header", file(text, header, data, end), .order, 8),
            Faulty("two headers", file(header, header, data, end), .order, 33),
            Faulty("a short header", file(PNGFile.part("IHDR", [0, 0, 0, 1]), data, end), .length, 8),
            Faulty("no data", file(header, end), .order, 33),
            Faulty("no data but colours", file(header, colours, end), .order, 48),
            Faulty("data in two places", file(header, data, text, data, end), .order, 33 + data.count + text.count),
            Faulty("colours after the data", file(header, data, colours, end), .order, 33 + data.count),
            Faulty("colours twice", file(header, colours, colours, data, end), .order, 48),
            Faulty("what is clear before the colours", file(header, clear, colours, data, end), .order, 46),
            Faulty("something after the end", file(header, data, end, [0]), .trailing, 33 + data.count + 12),
            Faulty("another picture after the end", file(header, data, end, end), .trailing, 33 + data.count + 12),
            Faulty(
                "an end that holds something", file(header, data, PNGFile.part("IEND", [0])), .length, 33 + data.count),
            Faulty("no width", file(PNGFile.header(width: 0, height: 2), data, end), .header, 8),
            Faulty("no height", file(PNGFile.header(width: 3, height: 0), data, end), .header, 8),
            Faulty("a kind that there is not", headed(8, 1), .header, 8),
            Faulty("too few bits", headed(4, 2), .header, 8),
            Faulty("too many bits", headed(16, 3), .header, 8),
            Faulty("bits that there are not", headed(3, 0), .header, 8),
            Faulty("another compression", headed(8, 2, [1, 0, 0]), .header, 8),
            Faulty("other filters", headed(8, 2, [0, 1, 0]), .header, 8),
            Faulty("another order of rows", headed(8, 2, [0, 0, 2]), .header, 8),
            Faulty("no colours", paletted(), .palette, 8),
            Faulty("an empty palette", paletted(PNGFile.part("PLTE", [])), .palette, 33),
            Faulty("half a colour", paletted(PNGFile.part("PLTE", [1, 2, 3, 4])), .palette, 33),
            Faulty(
                "more colours than the bits have",
                paletted(PNGFile.part("PLTE", Array(repeating: 0, count: 15))), .palette, 33
            ),
            Faulty(
                "colours of a grey picture",
                file(PNGFile.header(width: 3, height: 2, kind: 0), colours, data, end), .palette, 33
            ),
            Faulty("more that is clear than colours", paletted(colours, PNGFile.part("tRNS", [0, 0])), .palette, 48),
            Faulty("nothing that is clear", paletted(colours, PNGFile.part("tRNS", [])), .palette, 48),
            Faulty("half a colour that is clear", file(header, clear, data, end), .palette, 33),
            Faulty(
                "a clear colour of a picture that has it in each pixel",
                file(
                    PNGFile.header(width: 3, height: 2, kind: 6), PNGFile.part("tRNS", [0, 0, 0, 0, 0, 0]), data, end),
                .palette, 33
            ),
            Faulty("empty data", packed([]), .data, 33),
            Faulty("one byte of data", packed([0x78]), .data, 33),
            Faulty("another method", packed([0x77, 0x85]), .data, 33),
            Faulty("a larger window", packed([0x88, 0x1C]), .data, 33),
            Faulty("a dictionary", packed([0x78, 0x20]), .data, 33),
            Faulty("a wrong check", packed([0x78, 0x02]), .data, 33),
        ]
    }()

    @Test("No byte of a file can be another one, and what is kept is read again as it is")
    func bytes() throws {
        let file = PNGFile.picture(width: 2, height: 2)
        let logo = try Logo(png: file)
        #expect(try Logo(png: logo.bytes) == logo)
        for (place, byte) in file.enumerated() {
            for bit in 0..<8 {
                var changed = file
                changed[place] = byte ^ (1 << bit)
                #expect(throws: Logo.Refusal.self) { try Logo(png: changed) }
            }
        }
        for length in file.indices {
            #expect(throws: Logo.Refusal.self) { try Logo(png: Array(file.prefix(length))) }
        }
    }
}
