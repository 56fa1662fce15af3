import Testing

@testable import CountersignPages

@Suite("The words of the pages")
struct WordTests {
    @Test("Each language has every word, and nothing else but a text in each", arguments: PageLanguage.allCases)
    func complete(in language: PageLanguage) {
        let text = PageText.of(language)
        #expect(Set(text.words.keys) == Set(PageWord.allCases))
        #expect(text.months.count == 12)
        for (word, words) in text.words {
            #expect(!words.isEmpty && !words.contains("  ") && !words.contains("!"), "\(word)")
            let bare = words.replacing(/<\/?strong>|<a href="\{\{account\}\}">|<\/a>/, with: "")
            #expect(!bare.contains("<") && !bare.contains(">") && !bare.contains("&"), "\(word)")
        }
    }

    @Test("Every word is used, and a word in an attribute or a title is plain text")
    func used() {
        var used: Set<String> = []
        for template in PageTemplate.all {
            for match in template.text.matches(of: /\[\[([a-zA-Z]+)(\|plain)?\]\]/) {
                used.insert(String(match.output.1))
                guard match.output.2 != nil, let word = PageWord(rawValue: String(match.output.1)) else { continue }
                for language in PageLanguage.allCases {
                    let text = PageText.of(language).words[word]
                    #expect(text?.contains("<") == false && text?.contains("\"") == false, "\(word)")
                }
            }
        }
        #expect(used == Set(PageWord.allCases.map(\.rawValue)))
    }

    @Test("Both languages name the same values in each word")
    func values() {
        for word in PageWord.allCases {
            let named = PageLanguage.allCases.map { language in
                Set((PageText.of(language).words[word] ?? "").matches(of: /\{\{[^}]*\}\}/).map { String($0.output) })
            }
            #expect(named[0] == named[1], "\(word)")
        }
    }

    @Test(
        "OpenID Connect Core 1.0 §3.1.2.1: the first of ui_locales that we have decides",
        arguments: [
            ("de", PageLanguage.german), ("fr de-CH en", .german), ("en-GB de", .english), ("DE", .german),
            ("fr", .english),
            ("", .english), ("den", .english), ("-de", .english),
        ])
    func locales(_ locales: String, _ language: PageLanguage) {
        #expect(PageLanguage.chosen(locales: locales) == language)
        #expect(PageLanguage.chosen(locales: "de", accepted: "en") == .german)
    }

    @Test(
        "RFC 9110 §12.5.4: the highest weight decides; RFC 4647 §3.4: a region falls back to its language",
        arguments: [
            ("de-AT,de;q=0.9,en;q=0.8", PageLanguage.german), ("fr, en;q=0.7, de;q=0.8", .german),
            ("en;q=0.5, de ; q=0.5", .english), ("de;q=0, en;q=0.1", .english), ("de;q=0", .english),
            ("de;q=2, en;q=0.1", .english), ("*", .english), (",;=", .english), ("de;level=1;q=0.2", .german),
        ])
    func accepted(_ field: String, _ language: PageLanguage) {
        #expect(PageLanguage.chosen(accepted: field) == language)
        #expect(PageLanguage.chosen(accepted: "fr", otherwise: .german) == .german)
    }
}
