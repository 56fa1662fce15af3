import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// A browser's visit to a page: what the browser is known by, and from where it comes.
struct Visit: Sendable {
    /// What the browser is known by.
    let browser: BrowserID
    /// Whether the browser got that only now.
    let isNew: Bool
    /// The secret of the browser's session; nil if it has none.
    let session: Secret<String>?
    let incoming: Incoming
    private let places: any Places

    /// A visit, with a new cookie for a browser that has none.
    init(_ incoming: Incoming, _ cookies: BrowserCookies, _ ports: Ports) {
        let known = cookies.browser(of: incoming.headers)
        guard let browser = known ?? BrowserID(Base64URL.encode(ports.random.bytes(32))) else {
            preconditionFailure("43 letters are a browser's id")
        }
        self.browser = browser
        isNew = known == nil
        session = cookies.session(of: incoming.headers)
        self.incoming = incoming
        places = ports.places
    }

    /// From where the visit comes, as devices show it.
    var place: ContextLine? {
        ContextLine(address: incoming.context.caller?.description, userAgent: incoming.headers[.userAgent])?
            .placed(by: places, in: nil)
    }
}

extension ContextLine {
    /// Its place and its address, as pages show them: whoever is near, or seems to be, has another address still.
    ///
    /// - Parameter language: the language of the place's name; nil for English.
    func shownPlace(in language: LanguageTag?) -> String? {
        let parts = [place?.text(in: language), address].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
