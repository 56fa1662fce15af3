/// A language of the hosted pages.
package enum PageLanguage: String, CaseIterable, Sendable {
    case english = "en"
    case german = "de"

    /// The language's own name, for the link that leads to it.
    package var ownName: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        }
    }

    /// The language for a request.
    ///
    /// Spec: OpenID Connect Core 1.0 §3.1.2.1 for `ui_locales`, RFC 9110 §12.5.4 for `Accept-Language`.
    ///
    /// - Parameters:
    ///   - locales: the parameter `ui_locales`: tags in the order of preference, separated by spaces.
    ///   - accepted: the header field `Accept-Language`.
    ///   - fallback: the deployment's language, where the request names none of ours.
    package static func chosen(
        locales: String? = nil, accepted: String? = nil, otherwise fallback: PageLanguage = .english
    ) -> PageLanguage {
        let named = (locales ?? "").split(separator: " ").lazy.compactMap { PageLanguage(tag: $0) }
        return named.first ?? preferred(in: accepted ?? "") ?? fallback
    }

    /// The language of a tag, whatever its region and script: `de-AT` is German.
    ///
    /// Spec: RFC 4647 §3.4.
    private init?(tag: some StringProtocol) {
        guard let primary = tag.split(separator: "-", omittingEmptySubsequences: false).first else { return nil }
        self.init(rawValue: primary.lowercased())
    }

    /// The first of the languages with the highest weight.
    private static func preferred(in field: String) -> PageLanguage? {
        var best: (language: PageLanguage, weight: Double)?
        for range in field.split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let tag = parts.first, let language = PageLanguage(tag: tag) else { continue }
            let weight = weight(of: parts.dropFirst())
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        return best?.language
    }

    /// The weight of a range: 1 where none is given, 0 where it cannot be read.
    private static func weight(of parameters: ArraySlice<String>) -> Double {
        guard let parameter = parameters.first(where: { $0.lowercased().hasPrefix("q=") }) else { return 1 }
        guard let weight = Double(parameter.dropFirst(2)), (0...1).contains(weight) else { return 0 }
        return weight
    }
}
