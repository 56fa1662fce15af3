import Encodings

/// The language that a client wants texts in: 1 to 35 letters, digits and hyphens.
///
/// It is kept and handed on as the client wrote it, also where it is none that texts are chosen by.
package struct RequestedLanguage: Hashable, Sendable, CustomStringConvertible {
    /// The text.
    package let description: String

    /// The language to choose texts by; nil where there is none of this form.
    package var tag: LanguageTag? { LanguageTag(description) }

    /// A language that was accepted before.
    package init(stored text: String) {
        description = text
    }

    /// Accepts a text, or nil.
    package init?(_ text: String) {
        guard (1...35).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") })
        else { return nil }
        description = text
    }
}
