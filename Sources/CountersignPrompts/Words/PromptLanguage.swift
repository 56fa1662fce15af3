/// A language of the prompts.
public enum PromptLanguage: String, CaseIterable, Sendable {
    /// English.
    case english = "en"
    /// German.
    case german = "de"

    /// The first of the person's languages that is one of ours, whatever its region and script; English without one.
    ///
    /// - Parameter tags: language tags, the preferred one first, as `Locale.preferredLanguages` gives them.
    public static func preferred(_ tags: [String]) -> PromptLanguage {
        let primary = tags.lazy.map { $0.prefix { $0 != "-" && $0 != "_" }.lowercased() }
        return primary.compactMap { PromptLanguage(rawValue: $0) }.first ?? .english
    }
}
