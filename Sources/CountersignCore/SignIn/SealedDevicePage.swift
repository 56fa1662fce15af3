package import CountersignWire
import Encodings

/// What the page carries on which people type the codes of devices: it shows that the form was sent from our own page in
/// this browser.
package struct SealedDevicePage: Equatable, Sendable {
    /// The languages that the person has chosen; nil for none.
    package let languages: String?

    /// What a page in these languages carries.
    package init(languages: String?) {
        self.languages = languages
    }

    /// The sealed text for a page in this browser.
    package func sealed(for browser: BrowserID, ports: Ports) throws -> String {
        try PageSeal(.device, browser, ports).seal(.members(["languages": languages.map(JSONValue.string)]))
    }

    /// What was sealed; nil if it was not sealed in this browser, or too long ago.
    package init?(opening text: String, in browser: BrowserID, ports: Ports) {
        guard let json = PageSeal(.device, browser, ports).open(text) else { return nil }
        self.init(languages: json["languages"]?.string)
    }
}
