import Encodings
import Foundation

/// Where a network address is thought to be, by a database of places: "Berlin, Germany".
///
/// It is a hint for people and never a proof: who goes through a relay or a mobile network seems to be elsewhere.
package struct Place: Hashable, Sendable {
    /// The languages in which names are kept: those of the hosted pages.
    package static let languages = ["en", "de"].compactMap { LanguageTag($0) }

    /// The name of a city or a country, by language.
    package struct Name: Hashable, Sendable {
        /// The greatest length, in Unicode scalars.
        fileprivate static let longest = 64

        /// The texts, at least one.
        package let texts: [LanguageTag: String]

        /// Accepts the texts that may be shown in a line that is signed; nil if there are none.
        ///
        /// A digit could pass for a part of the address beside it, or for the number to type.
        package init?(_ texts: [LanguageTag: String]) {
            let shown = texts.compactMapValues { text -> String? in
                let text = text.precomposedStringWithCanonicalMapping
                guard (try? DisplayLine(text, atMost: Self.longest)) != nil,
                    (try? DisplayLimits.check(name: text)) != nil,
                    !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .decimalNumber })
                else { return nil }
                return text
            }
            guard !shown.isEmpty else { return nil }
            self.texts = shown
        }

        /// The text in a language or, where it has none, in English or another one.
        fileprivate func text(in language: LanguageTag?) -> String {
            let wanted = (language?.fallbacks ?? []) + [.english]
            return wanted.lazy.compactMap { texts[$0] }.first
                ?? texts.min { $0.key.description < $1.key.description }?.value ?? ""
        }
    }

    /// The city; nil where only the country is known.
    package let city: Name?
    /// The country; nil where it has no name that can be shown.
    package let country: Name?
    /// The country's code of two capital letters (ISO 3166-1); nil where it is not known.
    package let countryCode: String?

    /// A place of these parts; nil if none of them can be shown.
    package init?(city: Name?, country: Name?, countryCode: String?) {
        let code = countryCode.flatMap { code in
            code.utf8.count == 2 && code.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains) ? code : nil
        }
        guard city != nil || country != nil || code != nil else { return nil }
        self.city = city
        self.country = country
        self.countryCode = code
    }

    /// City and country, as far as they are known; a city that is a country is named once.
    ///
    /// - Parameter language: the language of the names; nil for English.
    package func text(in language: LanguageTag?) -> String {
        let parts = [city?.text(in: language), country?.text(in: language) ?? countryCode].compactMap(\.self)
        return parts.count == 2 && parts[0].hasSameBytes(as: parts[1]) ? parts[0] : parts.joined(separator: ", ")
    }
}
