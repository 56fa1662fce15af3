import Foundation

/// A colour in sRGB.
package struct Colour: Hashable, Sendable, CustomStringConvertible {
    /// The part of red.
    package let red: UInt8
    /// The part of green.
    package let green: UInt8
    /// The part of blue.
    package let blue: UInt8

    /// A colour of these parts.
    package init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Reads a colour that is written as `#8a1538`, in either case; nil for any other text.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let digits = bytes.dropFirst().compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard bytes.first == UInt8(ascii: "#"), bytes.count == 7, digits.count == 6 else { return nil }
        red = UInt8(digits[0] * 16 + digits[1])
        green = UInt8(digits[2] * 16 + digits[3])
        blue = UInt8(digits[4] * 16 + digits[5])
    }

    /// The colour as `#8a1538`.
    package var description: String {
        "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The colour as one number, red first.
    package var number: UInt32 { UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue) }

    /// The contrast to another colour, from 1 to 21.
    ///
    /// Spec: WCAG 2.2, *Contrast ratio*.
    package func contrast(to other: Colour) -> Double {
        (max(luminance, other.luminance) + 0.05) / (min(luminance, other.luminance) + 0.05)
    }

    /// The relative luminance, from 0 to 1.
    ///
    /// Spec: WCAG 2.2, *Relative luminance*.
    package var luminance: Double {
        let parts = [red, green, blue].map { part in
            let value = Double(part) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}
