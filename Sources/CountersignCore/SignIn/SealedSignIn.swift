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
    /// The work that the page has given, with what its puzzle begins with; nil where it has given none.
    ///
    /// It serves the page's own form alone: no further page carries it on.
    package fileprivate(set) var work: (given: SignInWork, seed: [UInt8])?

    /// A sign-in of these parts.
    package init(wanted: Wanted, signIn: AuthorizationID? = nil, user: UserID? = nil) {
        self.wanted = wanted
        self.signIn = signIn
        self.user = user
    }

    /// The same in languages that the person has chosen, as in `ui_locales`; the page then gives its work anew.
    package func inLanguages(_ languages: String) -> CarriedSignIn {
        var said = CarriedSignIn(wanted: wanted, signIn: signIn, user: user)
        said.wanted.languages = languages
        return said
    }
}

/// What a client wants, as it travels with a page until the person does something.
///
/// No row is written for a visit alone, which would be the cheapest way to fill a database. It opens only in the
/// browser in which it was sealed, so that it also shows that a form was sent from our own page.
package enum SealedSignIn {
    /// How long it opens.
    package static let lifetime = Authorization.lifetime

    /// The sealed text for a page, with the work that the page gives.
    package static func seal(
        _ carried: CarriedSignIn, with work: SignInWork? = nil, for browser: BrowserID, ports: Ports
    ) throws -> String {
        let json = JSONValue.members([
            "wanted": carried.wanted.json,
            "sign_in": carried.signIn.map { .string("\($0)") }, "user": carried.user.map { .string("\($0)") },
            "work": work?.json,
        ])
        return try PageSeal(.signIn, browser, ports).seal(json)
    }

    /// What was sealed; nil if it was not sealed in this browser, or too long ago.
    package static func open(_ text: String, in browser: BrowserID, ports: Ports) -> CarriedSignIn? {
        guard let json = PageSeal(.signIn, browser, ports).open(text) else { return nil }
        return json["wanted"].flatMap { Wanted($0) }.map { wanted in
            var carried = CarriedSignIn(
                wanted: wanted, signIn: json["sign_in"]?.string.flatMap { AuthorizationID($0) },
                user: json["user"]?.string.flatMap { UserID($0) })
            carried.work = json["work"].flatMap { SignInWork($0) }.map { ($0, SignInWork.seed(of: text)) }
            return carried
        }
    }
}

/// Seals what travels with the pages of one kind in one browser; no other browser and no other kind of page opens it.
struct PageSeal: Sendable {
    /// What the pages are for.
    enum Kind: String {
        case signIn = "sign-in"
        case signOut = "sign-out"
        case account
        case device
    }

    private let purpose: String
    private let ports: Ports

    init(_ kind: Kind, _ browser: BrowserID, _ ports: Ports) {
        purpose = "\(kind.rawValue) \(browser.text.reveal())"
        self.ports = ports
    }

    /// The sealed text of an object.
    func seal(_ json: JSONValue) throws -> String {
        var object = json.object ?? [:]
        object["at"] = .string("\(ports.time.now)")
        return Base64URL.encode(try ports.hasher.sealed(JSONValue.object(object).encoded, for: purpose))
    }

    /// The object; nil if it was not sealed so, or longer ago than ``SealedSignIn/lifetime``.
    func open(_ text: String) -> JSONValue? {
        guard let sealed = Base64URL.decode(text), let bytes = ports.hasher.opened(sealed, for: purpose),
            let json = try? JSONValue(parsing: bytes), let at = json["at"]?.string.flatMap({ Timestamp($0) })
        else { return nil }
        // check: SignInPageTests.tooOld
        guard ports.time.now < at.adding(SealedSignIn.lifetime) else { return nil }
        return json
    }
}
