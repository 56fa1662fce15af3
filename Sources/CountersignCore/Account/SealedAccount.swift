package import CountersignWire
import Encodings

/// What every form of the account page carries: it shows that the form was sent from our own page in this browser.
package struct SealedAccount: Equatable, Sendable {
    /// Whom the page was shown to.
    package let user: UserID
    /// The languages that the person has chosen; nil for none.
    package let languages: String?

    /// What a page for this person carries.
    package init(user: UserID, languages: String?) {
        self.user = user
        self.languages = languages
    }

    /// The sealed text for a page in this browser.
    package func sealed(for browser: BrowserID, ports: Ports) throws -> String {
        try PageSeal(.account, browser, ports).seal(
            .members(["user": .string("\(user)"), "languages": languages.map(JSONValue.string)]))
    }

    /// What was sealed; nil if it was not sealed in this browser, or too long ago.
    package init?(opening text: String, in browser: BrowserID, ports: Ports) {
        guard let json = PageSeal(.account, browser, ports).open(text),
            let user = json["user"]?.string.flatMap({ UserID($0) })
        else { return nil }
        self.init(user: user, languages: json["languages"]?.string)
    }
}
