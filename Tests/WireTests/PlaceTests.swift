import Testing

@testable import CountersignWire

@Suite("The place beside an address")
struct PlaceTests {
    private static let german = LanguageTag("de-AT")
    private static let english = LanguageTag.english

    private func name(_ english: String?, _ german: String? = nil) throws -> Place.Name? {
        var texts: [LanguageTag: String] = [:]
        texts[.english] = english
        texts[try #require(LanguageTag("de"))] = german
        return Place.Name(texts)
    }

    @Test("City and country are named in the language, or in one that they have")
    func languages() throws {
        let place = try #require(
            Place(city: name("Cologne", "Köln"), country: name("Germany", "Deutschland"), countryCode: "DE"))
        #expect(place.text(in: nil) == "Cologne, Germany")
        #expect(place.text(in: LanguageTag("fr")) == "Cologne, Germany")
        #expect(place.text(in: Self.german) == "Köln, Deutschland")
        let mixed = try #require(Place(city: name("Cologne"), country: name(nil, "Deutschland"), countryCode: nil))
        #expect(mixed.text(in: Self.german) == "Cologne, Deutschland")
        #expect(mixed.text(in: Self.english) == "Cologne, Deutschland")
    }

    @Test("What is not known is left out; a city that is a country is named once")
    func parts() throws {
        #expect(Place(city: nil, country: try name("Germany"), countryCode: "DE")?.text(in: nil) == "Germany")
        #expect(Place(city: try name("Berlin"), country: nil, countryCode: "DE")?.text(in: nil) == "Berlin, DE")
        #expect(Place(city: try name("Berlin"), country: nil, countryCode: nil)?.text(in: nil) == "Berlin")
        let city = try name("Singapore", "Singapur")
        #expect(Place(city: city, country: city, countryCode: "SG")?.text(in: Self.german) == "Singapur")
        #expect(Place(city: nil, country: nil, countryCode: nil) == nil)
    }

    @Test(
        "A name that could deceive is no name",
        arguments: [
            "", " ", " Berlin", "Berlin ", "Ber\nlin", "Ber\u{0}lin", "Ber\u{202E}nil", "Ber\u{200B}lin",
            "Ber\u{2028}lin",
            "\u{E000}", "203.0.113.7", "Type 471932", "Berlin ٣", String(repeating: "a", count: 65),
            "B" + String(repeating: "\u{301}", count: 8),
        ])
    func refused(_ text: String) throws {
        #expect(try name(text) == nil)
        // The other name stays.
        #expect(try name(text, "Berlin")?.texts.count == 1)
    }

    @Test("Names of real places are names", arguments: ["'s-Hertogenbosch", "Québec", "St. John's", "Łódź", "東京都"])
    func accepted(_ text: String) throws {
        #expect(Place(city: try name(text), country: nil, countryCode: nil)?.text(in: nil) == text)
    }

    @Test("A name in another normal form is shown in the one that is signed")
    func normalized() throws {
        let texts = try #require(try name("Zu\u{308}rich")?.texts)
        #expect(texts[.english]?.unicodeScalars.count == 6)
    }

    @Test("A code is two capital letters", arguments: ["", "D", "de", "DEU", "D1", "D\u{0}", "ÄÖ"])
    func codes(_ code: String) {
        #expect(Place(city: nil, country: nil, countryCode: code) == nil)
        #expect(Place(city: nil, country: nil, countryCode: "DE")?.text(in: nil) == "DE")
    }
}
