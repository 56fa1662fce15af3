/// PNG files as tests make them, with data that are not compressed.
package enum PNGFile {
    /// How every file begins.
    package static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The last part of every file.
    package static let end = part("IEND", [])

    /// A picture, with 8 bits for red, green and blue each.
    ///
    /// - Parameters:
    ///   - width: how many pixels it is wide.
    ///   - height: how many pixels it is high.
    ///   - colour: the colour of a pixel by its column and its row, of one colour usually.
    package static func picture(
        width: Int, height: Int, _ colour: (Int, Int) -> [UInt8] = { _, _ in [0x8A, 0x15, 0x38] }
    ) -> [UInt8] {
        // Each row begins with the number of its filter.
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width { rows += colour(x, y) }
        }
        return signature + header(width: width, height: height) + part("IDAT", zlib(rows)) + end
    }

    /// A header.
    package static func header(
        width: Int, height: Int, depth: UInt8 = 8, kind: UInt8 = 2, rest: [UInt8] = [0, 0, 0]
    ) -> [UInt8] {
        part("IHDR", number(UInt32(width)) + number(UInt32(height)) + [depth, kind] + rest)
    }

    /// A part with its length and its checksum.
    package static func part(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + data
        let sum = checked.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        return number(UInt32(data.count)) + checked + number(~sum)
    }

    /// Bytes as zlib has them, in blocks that are stored as they are.
    package static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([0x78, 0x01], bytes[...])
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            result.append(rest.isEmpty ? 1 : 0)
            for value in [length, ~length] { result += [UInt8(value & 0xFF), UInt8(value >> 8)] }
            result += block
        } while !rest.isEmpty
        let (one, two) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let one = (sums.0 + UInt32(byte)) % 65_521
            return (one, (sums.1 + one) % 65_521)
        }
        return result + number(two << 16 | one)
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> UInt32($0) & 0xFF) }
    }
}
