import Encodings

/// A client's logo: a still PNG, of which nothing is kept but the picture.
///
/// The picture is never decoded here, so that its compressed data cannot harm the server; its sides are limited for the
/// sake of browsers. Texts, profiles and further frames are left out: nobody looks at them, and they could hold what the
/// client did not mean to publish.
///
/// Spec: docs/decisions/0081-what-a-client-replaces.md.
package struct Logo: Hashable, Sendable {
    /// How large a file may be, in bytes.
    package static let maximumSize = 65_536
    /// How many pixels wide and high a picture may be.
    package static let maximumSide: UInt32 = 1024

    /// Why a file is refused.
    package enum Refusal: Error, Hashable, Sendable {
        /// The file has more bytes than ``Logo/maximumSize``.
        case tooLarge(bytes: Int)
        /// The file does not begin as a PNG does.
        case notPNG
        /// The picture is wider or higher than ``Logo/maximumSide``.
        case tooManyPixels(width: UInt32, height: UInt32)
        /// The chunk that begins at this byte is not as it must be.
        case damaged(PNGFault, at: Int)
    }

    /// The file as it is served.
    package let bytes: [UInt8]
    /// The width in pixels.
    package let width: Int
    /// The height in pixels.
    package let height: Int

    /// What names the file.
    package var hash: LogoHash { LogoHash(of: bytes) }

    /// Reads a file, and keeps its picture.
    package init(png file: [UInt8]) throws(Refusal) {
        // check: LogoTests.size
        guard file.count <= Self.maximumSize else { throw .tooLarge(bytes: file.count) }
        // check: LogoTests.signature
        guard file.starts(with: PNGChunk.signature) else { throw .notPNG }
        let chunks = try PNGChunk.all(in: file)
        let header = try PNGHeader(chunks)
        try header.check(try PNGChunk.picture(among: chunks))
        // check: LogoTests.sides
        guard header.width <= Self.maximumSide, header.height <= Self.maximumSide else {
            throw .tooManyPixels(width: header.width, height: header.height)
        }
        bytes = PNGChunk.signature + chunks.filter { PNGChunk.kept.contains($0.type) }.flatMap(\.bytes)
        width = Int(header.width)
        height = Int(header.height)
    }
}

/// What is wrong with a chunk of a PNG.
package enum PNGFault: Hashable, Sendable {
    /// It goes beyond the end of the file, or its length is not that of its type.
    case length
    /// Its type is no four letters, or the picture cannot be shown without knowing it.
    case type
    /// Its checksum is wrong.
    case checksum
    /// It stands where it may not, it is there twice, or it is missing before this one.
    case order
    /// The header says something that there is not.
    case header
    /// The palette, or what of it is transparent, is not as the header has it.
    case palette
    /// The data do not begin as compressed data do.
    case data
    /// Something follows the last chunk.
    case trailing
}

/// A part of a PNG.
///
/// Spec: RFC 2083 §3.2.
private struct PNGChunk {
    /// How a file begins.
    ///
    /// Spec: RFC 2083 §3.1.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The types without which a picture looks otherwise, in their order.
    static let kept = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]
    /// How many bytes there are besides the data: length, type and checksum.
    private static let frame = 12

    let type: String
    let data: ArraySlice<UInt8>
    /// Where it begins in the file.
    let offset: Int
    /// The whole chunk.
    let bytes: ArraySlice<UInt8>

    /// Whether a reader that does not know the type may leave the chunk out.
    ///
    /// Spec: RFC 2083 §3.3.
    private var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }

    /// The chunks of a file up to its end, which is the chunk `IEND`.
    static func all(in file: [UInt8]) throws(Logo.Refusal) -> [PNGChunk] {
        var chunks: [PNGChunk] = []
        var rest = file[signature.count...]
        while chunks.last?.type != "IEND" {
            let chunk = try PNGChunk(at: rest)
            if !chunk.isAncillary, !kept.contains(chunk.type) { throw .damaged(.type, at: chunk.offset) }
            chunks.append(chunk)
            rest = rest.dropFirst(chunk.bytes.count)
        }
        // What follows could make the file another one to another reader.
        // check: LogoTests.faults
        guard rest.isEmpty else { throw .damaged(.trailing, at: rest.startIndex) }
        return chunks
    }

    private init(at rest: ArraySlice<UInt8>) throws(Logo.Refusal) {
        offset = rest.startIndex
        guard rest.count >= Self.frame, let length = Int(exactly: Self.number(rest)),
            length <= rest.count - Self.frame
        else { throw .damaged(.length, at: offset) }
        bytes = rest.prefix(length + Self.frame)
        let checked = bytes.dropFirst(4).dropLast(4)
        let name = checked.prefix(4)
        let letters = Set(UInt8(ascii: "A")...UInt8(ascii: "Z")).union(UInt8(ascii: "a")...UInt8(ascii: "z"))
        // check: LogoTests.faults
        guard name.allSatisfy(letters.contains) else { throw .damaged(.type, at: offset) }
        // check: LogoTests.faults
        guard CRC32.of(checked) == Self.number(bytes.suffix(4)) else { throw .damaged(.checksum, at: offset) }
        type = String(decoding: name, as: UTF8.self)
        data = checked.dropFirst(4)
    }

    /// The parts of the picture after the header, if they stand where they must.
    ///
    /// Spec: RFC 2083 §4.3.
    static func picture(among chunks: [PNGChunk]) throws(Logo.Refusal) -> (
        palette: PNGChunk?, transparency: PNGChunk?, data: [PNGChunk]
    ) {
        // Data that are next to each other count as one.
        let order = chunks.indices.filter { index in
            let isMoreData = index > 0 && chunks[index].type == "IDAT" && chunks[index - 1].type == "IDAT"
            return !isMoreData && kept.contains(chunks[index].type)
        }.map { chunks[$0] }
        for (index, chunk) in order.enumerated().dropFirst() {
            let isRising =
                kept.firstIndex(of: order[index - 1].type) ?? 0 < kept.firstIndex(of: chunk.type) ?? 0
            let isEndTooEarly = chunk.type == "IEND" && order[index - 1].type != "IDAT"
            // check: LogoTests.faults
            guard isRising, !isEndTooEarly else { throw .damaged(.order, at: chunk.offset) }
        }
        if let end = chunks.last, !end.data.isEmpty { throw .damaged(.length, at: end.offset) }
        return (
            order.first { $0.type == "PLTE" }, order.first { $0.type == "tRNS" }, chunks.filter { $0.type == "IDAT" }
        )
    }

    /// The four bytes at the beginning, the most significant first.
    ///
    /// Spec: RFC 2083 §2.1.
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}

/// What the header of a PNG says.
///
/// Spec: RFC 2083 §4.1.1.
private struct PNGHeader {
    /// The kinds of colour, by their number.
    enum Kind: UInt8 {
        case grey = 0
        case colour = 2
        case palette = 3
        case greyWithAlpha = 4
        case colourWithAlpha = 6

        var depths: [UInt8] {
            switch self {
            case .grey: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .colour, .greyWithAlpha, .colourWithAlpha: [8, 16]
            }
        }
    }

    let width: UInt32
    let height: UInt32
    private let depth: UInt8
    private let kind: Kind
    private let offset: Int

    init(_ chunks: [PNGChunk]) throws(Logo.Refusal) {
        guard let first = chunks.first else { throw .notPNG }
        offset = first.offset
        // check: LogoTests.faults
        guard first.type == "IHDR" else { throw .damaged(.order, at: offset) }
        let bytes = Array(first.data)
        // check: LogoTests.faults
        guard bytes.count == 13 else { throw .damaged(.length, at: offset) }
        width = PNGChunk.number(bytes[0..<4])
        height = PNGChunk.number(bytes[4..<8])
        guard let kind = Kind(rawValue: bytes[9]), kind.depths.contains(bytes[8]), width > 0, height > 0,
            // The only compression and the only filters that there are, and two ways to order the rows.
            bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1
        else { throw .damaged(.header, at: offset) }
        (depth, self.kind) = (bytes[8], kind)
    }

    /// Refuses parts of a picture that are not as the header has it.
    func check(
        _ picture: (palette: PNGChunk?, transparency: PNGChunk?, data: [PNGChunk])
    ) throws(Logo.Refusal) {
        let entries = (picture.palette?.data.count ?? 0) / 3
        if let palette = picture.palette {
            let most = kind == .palette ? 1 << Int(depth) : 256
            // Spec: RFC 2083 §4.1.2.
            // check: LogoTests.faults
            guard palette.data.count.isMultiple(of: 3), (1...most).contains(entries), kind != .grey,
                kind != .greyWithAlpha
            else { throw .damaged(.palette, at: palette.offset) }
        } else if kind == .palette {
            throw .damaged(.palette, at: offset)
        }
        if let transparency = picture.transparency {
            // Spec: RFC 2083 §4.2.9.
            let lengths: ClosedRange<Int>? =
                switch kind {
                case .grey: 2...2
                case .colour: 6...6
                case .palette: 1...entries
                case .greyWithAlpha, .colourWithAlpha: nil
                }
            // check: LogoTests.faults
            guard lengths?.contains(transparency.data.count) == true else {
                throw .damaged(.palette, at: transparency.offset)
            }
        }
        let start = Array(picture.data.lazy.flatMap(\.data).prefix(2))
        // Deflate, a window that a reader must have, no dictionary, and the check of these two bytes.
        // Spec: RFC 2083 §5, RFC 1950 §2.2.
        // check: LogoTests.faults
        guard start.count == 2, start[0] & 0x0F == 8, start[0] >> 4 <= 7, start[1] & 0x20 == 0,
            (Int(start[0]) << 8 | Int(start[1])).isMultiple(of: 31)
        else { throw .damaged(.data, at: picture.data.first?.offset ?? offset) }
    }
}

/// The checksum of chunks.
///
/// Spec: RFC 2083 §3.4.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// The checksum of a chunk's type and data.
    package static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
    }
}
