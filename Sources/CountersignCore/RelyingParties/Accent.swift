/// A client's own colour on its pages, for links, filled buttons and the line on top.
///
/// Spec: docs/decisions/0081-what-a-client-replaces.md.
package struct Accent: Hashable, Sendable {
    /// A colour scheme of the pages.
    package enum Scheme: String, CaseIterable, Sendable {
        case light
        case dark

        /// The colour on which links stand in the scheme.
        ///
        /// The page behind text on filled buttons contrasts more, so that enough on the panel is enough for both.
        package var panel: Colour {
            switch self {
            case .light: Colour(red: 0xF1, green: 0xF4, blue: 0xF5)
            case .dark: Colour(red: 0x17, green: 0x1E, blue: 0x22)
            }
        }
    }

    /// A colour that is hard to read on the panel of its scheme.
    package struct HardToRead: Error, Hashable, Sendable {
        /// The scheme.
        package let scheme: Scheme
        /// The contrast in hundredths, rounded down: 449 for 4.49 to 1.
        package let hundredths: Int
    }

    /// The least contrast, in hundredths.
    ///
    /// Spec: WCAG 2.2 §1.4.3.
    package static let leastHundredths = 450

    /// The colour in the light scheme.
    package let light: Colour
    /// The colour in the dark scheme; nil where that scheme uses the colour of its text.
    package let dark: Colour?

    /// Accepts colours that can be read.
    package init(light: Colour, dark: Colour?) throws(HardToRead) {
        try Self.check(light, in: .light)
        if let dark { try Self.check(dark, in: .dark) }
        self.light = light
        self.dark = dark
    }

    private static func check(_ colour: Colour, in scheme: Scheme) throws(HardToRead) {
        let hundredths = Int((colour.contrast(to: scheme.panel) * 100).rounded(.down))
        // check: LookTests.hardToRead
        guard hundredths >= leastHundredths else { throw HardToRead(scheme: scheme, hundredths: hundredths) }
    }
}
