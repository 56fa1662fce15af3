import CountersignPages
import TestSupport

/// What a client replaces on the sample pages.
enum SampleLook {
    static let accent = PageAccent(light: 0x8A1538, dark: 0xFFB3C4)
    static let logoPath = "/assets/logos/sample.png"

    /// A roof over the client's first letter, and a line for the rest of its name.
    static let logo = PNGFile.picture(width: 176, height: 60) { x, y in
        let fromRidge = abs(x - 30)
        let isRoof = (6..<30).contains(y) && fromRidge <= y - 6
        let isWall = (30..<54).contains(y) && fromRidge <= 18 && !(fromRidge <= 6 && y >= 38)
        let isName = x >= 70 && x < 170 && ((16..<28).contains(y) || (34..<46).contains(y) && x < 140)
        if isRoof || isWall { return [0x8A, 0x15, 0x38] }
        return isName ? [0x3A, 0x0B, 0x18] : [0xFF, 0xFF, 0xFF]
    }
}
