/// The texts of the pages in one language.
struct PageText: Sendable {
    /// A text for each word, which may have `{{values}}` and the elements `strong` and `a`, nothing else.
    let words: [PageWord: String]
    /// The months as they stand in a date.
    let months: [String]
    /// The names of the days that are near, and what stands before any other in a sentence.
    let days: (yesterday: String, today: String, tomorrow: String, on: String)

    /// The texts of a language.
    static func of(_ language: PageLanguage) -> PageText {
        switch language {
        case .english: english
        case .german: german
        }
    }

    /// The elements that stand around values: what others wrote must not turn the direction of our text around.
    ///
    /// Names may be in any script; hosts and addresses are read from left to right.
    private static let elements = [
        "client": "<bdi>{{client}}</bdi>", "browser": "<bdi>{{browser}}</bdi>", "place": "<bdi>{{place}}</bdi>",
        "clientHost": #"<bdi dir="ltr">{{clientHost}}</bdi>"#, "issuer": #"<bdi dir="ltr">{{issuer}}</bdi>"#,
        "address": #"<bdi dir="ltr">{{address}}</bdi>"#, "left": #"<b class="left">{{left}}</b>"#,
        "value": #"<bdi dir="ltr">{{value}}</bdi>"#, "device": "<bdi>{{device}}</bdi>", "other": "<bdi>{{other}}</bdi>",
        "name": "<bdi>{{name}}</bdi>",
        // An address in a heading is wide, and breaks between these two, which stand side by side.
        "mailbox": #"<bdi dir="ltr">{{mailbox}}<wbr />"#, "domain": "{{domain}}</bdi>",
    ]

    /// Puts the texts into a template: `[[word]]` between tags, `[[word|plain]]` in attributes and the title.
    func inserted(into template: String) -> String {
        var parts = template.components(around: "[[")
        let start = parts.removeFirst()
        return parts.reduce(into: start) { result, part in
            let halves = part.components(around: "]]")
            let name = halves[0].components(around: "|")
            guard halves.count == 2, let word = PageWord(rawValue: name[0]), let text = words[word] else {
                preconditionFailure("the template names a word that is not there: \(halves[0])")
            }
            result += (name.count == 1 ? Self.marked(text) : text) + halves[1]
        }
    }

    private static func marked(_ text: String) -> String {
        elements.reduce(text) { $0.replacing("{{\($1.key)}}", with: $1.value) }
    }
}

extension String {
    /// The parts before, between and after each occurrence of a separator.
    fileprivate func components(around separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
