/// A language tag, by which texts are chosen: `de`, `pt-BR`, `zh-Hant-TW`.
///
/// From BCP 47 it takes the language, and the script and region that may follow, in the usual upper and lower case.
/// Spec: RFC 5646 §2.1 and §2.1.1.
public struct LanguageTag: Hashable, Sendable, CustomStringConvertible {
    /// The tag.
    public let description: String

    /// English, in which every text exists.
    public static let english = LanguageTag(known: "en")

    private init(known tag: String) {
        description = tag
    }

    /// Reads a tag in any case, or nil.
    public init?(_ text: String) {
        var subtags = text.lowercased().split(separator: "-", omittingEmptySubsequences: false)[...]
        guard text.utf8.count <= 35, let language = subtags.popFirst(), Self.isWord(language, 2...3) else { return nil }
        var tag = String(language)
        if let script = subtags.first, Self.isWord(script, 4...4) {
            tag += "-\(script.prefix(1).uppercased())\(script.dropFirst())"
            subtags.removeFirst()
        }
        if let region = subtags.first {
            guard Self.isWord(region, 2...2) || region.utf8.count == 3 && region.utf8.allSatisfy(\.isDigit) else {
                return nil
            }
            tag += "-\(region.uppercased())"
            subtags.removeFirst()
        }
        guard subtags.isEmpty else { return nil }
        description = tag
    }

    /// The languages to look for, in this order: the language itself, then those of which it is a variety.
    ///
    /// Spec: RFC 4647 §3.4.
    public var fallbacks: [LanguageTag] {
        var tags: [LanguageTag] = []
        var parts = description.split(separator: "-")[...]
        while !parts.isEmpty {
            tags.append(LanguageTag(known: parts.joined(separator: "-")))
            parts.removeLast()
        }
        return tags
    }

    private static func isWord(_ text: Substring, _ length: ClosedRange<Int>) -> Bool {
        length.contains(text.utf8.count)
            && text.utf8.allSatisfy(\.isLowercaseLetter)
    }
}
