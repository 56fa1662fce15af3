/// A client's own colour for links, filled buttons and the line on top of the page, as a stylesheet.
///
/// Whoever sets the colours sees to it that they can be read on the panel.
package struct PageAccent: Hashable, Sendable {
    /// Below which path the stylesheets are served, each by its ``name``.
    package static let folder = "/assets/accents"
    /// What a name has in place of a dark colour that there is not.
    private static let noDark = "ink"

    private let light: String
    private let dark: String?

    /// Colours as numbers of 24 bits, red first.
    ///
    /// - Parameters:
    ///   - light: the colour in the light scheme.
    ///   - dark: the colour in the dark scheme; without it, that scheme uses the colour of its text.
    package init(light: UInt32, dark: UInt32?) {
        self.light = Self.digits(light)
        self.dark = dark.map(Self.digits)
    }

    /// Reads the name of a stylesheet; nil for every text that is not ``name``, letter for letter.
    ///
    /// The name has all that the stylesheet says, so that no database is asked, and nobody learns which clients there
    /// are.
    package init?(name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let light = UInt32(parts[0], radix: 16) else { return nil }
        let dark = UInt32(parts[1], radix: 16)
        self.init(light: light, dark: dark)
        guard self.name.utf8.elementsEqual(name.utf8) else { return nil }
    }

    /// What names the stylesheet: its colours, and a mark of its content, which a later version may change.
    private var name: String { "\(light)-\(dark ?? Self.noDark)-\(PageAssets.mark(stylesheet)).css" }

    /// The path of the stylesheet.
    package var path: String { "\(Self.folder)/\(name)" }

    /// The stylesheet to serve at ``path``, which ``PageFrame/Client/accentPath`` names.
    package var stylesheet: String {
        let other = dark.map { "#\($0)" } ?? "var(--ink)"
        return """
            :root{--accent:#\(light)}
            @media(prefers-color-scheme:dark){:root{--accent:\(other)}}

            """
    }

    /// The six hexadecimal digits of a colour.
    private static func digits(_ colour: UInt32) -> String {
        let text = String(colour & 0xFF_FFFF, radix: 16)
        return String(repeating: "0", count: 6 - text.count) + text
    }
}
