import CountersignCore

extension Seeds {
    /// What browsers and clients send to the token endpoint and the pages.
    func writeForms() throws {
        try put(.form, "token", "grant_type=authorization_code&code=a-_~.b&redirect_uri=https%3A%2F%2Fshop.example%2Fc")
        try put(.form, "empty", "&a&b=&=c&d==&&")
        try put(.form, "blanks", "scope=openid+offline_access&state=%2B%20%c3%A4")
        try put(.form, "combining-marks", "a=b&\u{301}c=\u{FE0F}d")
        try put(.form, "refused-half-an-escape", "a=b&c=%4")
        try put(.form, "refused-no-escape", "a=%zz")
        try put(.form, "refused-not-utf-8", "a=%C3&b=%28")
    }

    /// Logos: three pixels, and what else a PNG may have. The property makes the checksums right.
    func writeLogos() throws {
        let data = Self.part("IDAT", [0x78, 0x01, 1, 0, 0, 0xFF, 0xFF, 0, 0, 0, 1])
        let end = Self.part("IEND", [])
        func file(depth: UInt8 = 8, kind: UInt8, _ parts: [UInt8]...) -> [UInt8] {
            let header = Self.part("IHDR", [0, 0, 0, 3, 0, 0, 0, 1, depth, kind, 0, 0, 0])
            return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + header + parts.flatMap { $0 }
        }
        try put(.logo, "colours", file(kind: 2, data, end))
        try put(.logo, "grey-with-alpha", file(kind: 4, data, data, end))
        let palette = Self.part("PLTE", [255, 0, 0, 0, 0, 255])
        let transparency = Self.part("tRNS", [0, 255])
        try put(.logo, "palette", file(depth: 1, kind: 3, palette, transparency, data, end))
        try put(.logo, "with-a-text", file(kind: 6, Self.part("tEXt", [65, 0, 66]), data, end))
        try put(.logo, "refused-no-palette", file(depth: 1, kind: 3, data, end))
        try put(.logo, "refused-unknown-part", file(kind: 2, Self.part("NEWS", [1]), data, end))
        try put(.logo, "refused-more", file(kind: 2, data, end, [0]))
        try put(.logo, "refused-no-end", file(kind: 2, data))
    }

    private static func part(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + data
        let sum = CRC32.of(checked[...])
        return [0, 0, 0, UInt8(data.count)] + checked + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }
    }
}
