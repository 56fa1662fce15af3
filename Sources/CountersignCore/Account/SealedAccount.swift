package import CountersignWire
import Encodings

/// What every form of the account page carries: it shows that the form was sent from our own page in this browser.
package struct SealedAccount: Equatable, Sendable {
    /// Whom the page was shown to.
    package let user: UserID
    /// The languages that the person has chosen; nil for none.
    package let languages: String?
    /// The code that was sent to an address that the person adds; nil for none.
    package let verification: Verification?

    /// What a page for this person carries.
    package init(user: UserID, languages: String?, verification: Verification? = nil) {
        self.user = user
        self.languages = languages
        self.verification = verification
    }

    /// The sealed text for a page in this browser.
    package func sealed(for browser: BrowserID, ports: Ports) throws -> String {
        try PageSeal(.account, browser, ports).seal(
            .members([
                "user": .string("\(user)"), "languages": languages.map(JSONValue.string),
                "verification": verification.map { .string("\($0.id)") },
                "address": verification.map { .string("\($0.address)") },
            ]))
    }

    /// What was sealed; nil if it was not sealed in this browser, or too long ago.
    package init?(opening text: String, in browser: BrowserID, ports: Ports) {
        guard let json = PageSeal(.account, browser, ports).open(text),
            let user = json["user"]?.string.flatMap({ UserID($0) })
        else { return nil }
        let verification = json["verification"]?.string.flatMap { VerificationID($0) }
        let address = json["address"]?.string.flatMap { PersonalAddress($0) }
        self.init(
            user: user, languages: json["languages"]?.string,
            verification: verification.flatMap { id in address.map { Verification(id: id, address: $0) } })
    }
}
