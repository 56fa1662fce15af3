import Foundation

/// A client's own colour for links, filled buttons and the line on top of the page.
package struct PageAccent: Hashable, Sendable {
    /// Why colours are refused.
    package enum Refusal: Error, Hashable {
        /// A text that is no number sign with six hexadecimal digits.
        case malformed
        /// Links in this colour are hard to read in the light scheme.
        case tooPaleForLight
        /// Links in this colour are hard to read in the dark scheme.
        case tooDarkForDark
    }

    /// The least contrast to the panel, on which links stand.
    ///
    /// The page behind text on filled buttons contrasts more than the panel, so that this is enough for both.
    private static let leastContrast = 4.5
    private static let lightPanel = Colour(red: 0xF1, green: 0xF4, blue: 0xF5)
    private static let darkPanel = Colour(red: 0x17, green: 0x1E, blue: 0x22)

    private let light: Colour
    private let dark: Colour?

    /// Reads colours, written as `#8a1538`.
    ///
    /// - Parameters:
    ///   - light: the colour in the light scheme.
    ///   - dark: the colour in the dark scheme; without it, that scheme uses the colour of its text.
    package init(light: String, dark: String?) throws(Refusal) {
        self.light = try Colour(light)
        self.dark = if let dark { try Colour(dark) } else { nil }
        guard self.light.contrast(to: Self.lightPanel) >= Self.leastContrast else { throw .tooPaleForLight }
        if let dark = self.dark, dark.contrast(to: Self.darkPanel) < Self.leastContrast { throw .tooDarkForDark }
    }

    /// The stylesheet to serve at ``PageFrame/Client/accentPath``.
    package var stylesheet: String {
        let other = dark.map { $0.text } ?? "var(--ink)"
        return """
            :root{--accent:\(light.text)}
            @media(prefers-color-scheme:dark){:root{--accent:\(other)}}

            """
    }
}

/// A colour in sRGB.
private struct Colour: Hashable, Sendable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    var text: String { "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// The contrast to another colour as WCAG 2.2 defines it, from 1 to 21.
    func contrast(to other: Colour) -> Double {
        (max(luminance, other.luminance) + 0.05) / (min(luminance, other.luminance) + 0.05)
    }

    private var luminance: Double {
        let parts = [red, green, blue].map { part in
            let value = Double(part) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}

extension Colour {
    init(_ text: String) throws(PageAccent.Refusal) {
        let bytes = Array(text.utf8)
        let digits = bytes.dropFirst().compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard bytes.first == UInt8(ascii: "#"), bytes.count == 7, digits.count == 6 else { throw .malformed }
        red = UInt8(digits[0] * 16 + digits[1])
        green = UInt8(digits[2] * 16 + digits[3])
        blue = UInt8(digits[4] * 16 + digits[5])
    }
}
