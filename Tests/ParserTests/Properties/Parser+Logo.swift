import CountersignCore
import Encodings

extension Parser {
    /// Files with a client's logo. Checksums are made right first, so that inputs come past them.
    static let logo = Parser("logo") { input in
        let file = withChecksums(input)
        let logo: Logo
        do throws(Logo.Refusal) { logo = try Logo(png: file) } catch { return .refused }
        try expect(logo.bytes.count <= file.count, "a logo grows")
        try expect(logo.width > 0 && logo.height > 0, "a logo without pixels is read")
        try expect(try again("a logo") { try Logo(png: logo.bytes) } == logo, "a logo changes when it is read again")
        return .read
    }

    /// A file in which each whole chunk has its checksum.
    private static func withChecksums(_ input: [UInt8]) -> [UInt8] {
        var file = input
        var start = 8
        while start + 12 <= file.count {
            let length = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = start + 8 + length
            guard end + 4 <= file.count else { break }
            let sum = CRC32.of(file[start + 4..<end])
            for place in 0..<4 { file[end + place] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32(place))) }
            start = end + 4
        }
        return file
    }
}
