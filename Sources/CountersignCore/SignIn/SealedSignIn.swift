package import CountersignWire
import Encodings

/// What a page carries of a sign-in.
package struct CarriedSignIn: Sendable {
    /// What the client wants.
    package var wanted: Wanted
    /// The sign-in of this browser whose devices were asked before; nil before the first ask.
    package var signIn: AuthorizationID?
    /// Whom the page asks what they allow; nil where it asks nobody that.
    package var user: UserID?

    /// A sign-in of these parts.
    package init(wanted: Wanted, signIn: AuthorizationID? = nil, user: UserID? = nil) {
        self.wanted = wanted
        self.signIn = signIn
        self.user = user
    }
}

/// What a client wants, as it travels with a page until the person does something.
///
/// No row is written for a visit alone, which would be the cheapest way to fill a database. It opens only in the
/// browser in which it was sealed, so that it also shows that a form was sent from our own page.
package enum SealedSignIn {
    /// How long it opens.
    package static let lifetime = Authorization.lifetime

    /// The sealed text for a page.
    package static func seal(_ carried: CarriedSignIn, for browser: BrowserID, ports: Ports) throws -> String {
        let json = JSONValue.members([
            "at": .string("\(ports.time.now)"), "wanted": carried.wanted.json,
            "sign_in": carried.signIn.map { .string("\($0)") }, "user": carried.user.map { .string("\($0)") },
        ])
        return Base64URL.encode(try ports.hasher.sealed(json.encoded, for: purpose(browser)))
    }

    /// What was sealed; nil if it was not sealed in this browser, or too long ago.
    package static func open(_ text: String, in browser: BrowserID, ports: Ports) -> CarriedSignIn? {
        guard let sealed = Base64URL.decode(text), let bytes = ports.hasher.opened(sealed, for: purpose(browser)),
            let json = try? JSONValue(parsing: bytes), let at = json["at"]?.string.flatMap({ Timestamp($0) }),
            ports.time.now < at.adding(lifetime)
        else { return nil }
        return json["wanted"].flatMap { Wanted($0) }.map { wanted in
            CarriedSignIn(
                wanted: wanted, signIn: json["sign_in"]?.string.flatMap { AuthorizationID($0) },
                user: json["user"]?.string.flatMap { UserID($0) })
        }
    }

    private static func purpose(_ browser: BrowserID) -> String { "sign-in \(browser.text.reveal())" }
}
