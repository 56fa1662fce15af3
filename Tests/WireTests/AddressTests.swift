import CountersignWire
import Testing

@Suite("Addresses of people, and their languages")
struct AddressTests {
    @Test(
        "RFC 5321 §4.1.2 and §4.5.3.1, RFC 5322 §3.2.3, RFC 1035 §2.3.1 and §2.3.4: an address is read",
        arguments: [
            ("a@example.com", "a@example.com"), ("First.Last+tag@Example.COM", "First.Last+tag@example.com"),
            ("!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~@example.com"), ("me@localhost", "me@localhost"),
            ("a@xn--bcher-kva.example", "a@xn--bcher-kva.example"), ("1@1.example", "1@1.example"),
            (String(repeating: "a", count: 64) + "@example.com", String(repeating: "a", count: 64) + "@example.com"),
        ])
    func emails(text: String, read: String) throws {
        let address = try #require(EmailAddress(text))
        #expect("\(address)" == read)
        #expect(address.onTheWire == read)
        #expect(!address.needsSMTPUTF8)
        #expect(EmailAddress(read) == address)
    }

    @Test(
        "RFC 6531 §3.3, RFC 6532 §3.2, RFC 5891 §4: an international address is read; its domain goes out as DNS knows it"
    )
    func internationalEmails() throws {
        let domain = try #require(EmailAddress("info@Bücher.example"))
        #expect("\(domain)" == "info@bücher.example")
        #expect(domain.onTheWire == "info@xn--bcher-kva.example")
        #expect(!domain.needsSMTPUTF8)
        let both = try #require(EmailAddress("用户@例え.テスト"))
        #expect(both.onTheWire == "用户@xn--r8jz45g.xn--zckzah")
        #expect(both.needsSMTPUTF8)
        // Composed or not, one address has one spelling.
        #expect(EmailAddress("ju\u{308}rgen@example.com") == nil)
        #expect(EmailAddress("jürgen@example.com")?.needsSMTPUTF8 == true)
    }

    @Test(
        "RFC 5321 §4.1.2: what is no address, or could be read in two ways, is refused",
        arguments: [
            "", "a", "@", "a@", "@example.com", "a@b@example.com", "a..b@example.com", ".a@example.com",
            "a.@example.com", "a b@example.com", "a@example .com", "\"a b\"@example.com", "a(b)@example.com",
            "<a@example.com>", "a@example.com\r\nBcc: b@example.com", "a@example.com ", " a@example.com",
            "a@[127.0.0.1]", "a@127.0.0.1", "a@-example.com", "a@example-.com", "a@example..com", "a@.com", "a@com.",
            "a@exa_mple.com", "a,b@example.com", "a;b@example.com", "a:b@example.com", "a\u{200B}@example.com",
            "a\u{202E}@example.com", "a\u{0}@example.com", "a@example.com\u{7F}",
            String(repeating: "a", count: 65) + "@example.com",
            "a@" + String(repeating: "a", count: 64) + ".com",
            "a@" + Array(repeating: String(repeating: "a", count: 60), count: 5).joined(separator: "."),
        ])
    func otherEmails(text: String) {
        #expect(EmailAddress(text) == nil)
    }

    @Test("ITU-T E.164 §6.2: a telephone number has a plus sign and 7 to 15 digits, the first of them not 0")
    func phones() throws {
        for text in ["+15551234567", "+4915112345678", "+1234567", "+123456789012345"] {
            #expect(try #require(PhoneNumber(text)).description == text)
        }
        for text in [
            "", "+", "15551234567", "+05551234567", "+123456", "+1234567890123456", "+1 555 1234567", "+1-555-1234567",
            "+1555123456a", "++15551234567", "+٤٧١٩٣٢٤٥", "+15551234567\n", "tel:+15551234567",
        ] {
            #expect(PhoneNumber(text) == nil, "\(text)")
        }
    }

    @Test("RFC 5646 §2.1 and §2.1.1: a language may have a script and a region, and is written as usual")
    func languages() throws {
        for (text, written) in [
            ("de", "de"), ("DE", "de"), ("pt-br", "pt-BR"), ("zh-hant-tw", "zh-Hant-TW"), ("es-419", "es-419"),
            ("gsw", "gsw"), ("sr-LATN", "sr-Latn"),
        ] {
            #expect(try #require(LanguageTag(text)).description == written)
        }
        for text in [
            "", "d", "deutsch", "de_AT", "de-", "-de", "de-A", "de-AT-x", "de-AT-AT", "../de", "de/AT", "é", "42",
            "de-Latn-AT-1996",
        ] {
            #expect(LanguageTag(text) == nil, "\(text)")
        }
    }

    @Test("RFC 4647 §3.4: what is not there in a variety of a language is looked for in the language")
    func fallbacks() throws {
        let tag = try #require(LanguageTag("zh-Hant-TW"))
        #expect(tag.fallbacks.map(\.description) == ["zh-Hant-TW", "zh-Hant", "zh"])
        #expect(LanguageTag.english.fallbacks.map(\.description) == ["en"])
    }
}
