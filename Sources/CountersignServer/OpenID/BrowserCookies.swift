import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// The cookies of the provider: one by which it knows a browser, one for the browser's session, one that says by which way
/// somebody signed in there last, and one in browsers that are offered no passkey.
///
/// Over https their names begin with `__Host-`, so that no other host can set them. On loopback without TLS the name
/// ends with the port, because other programs on this machine share the cookies of its host.
struct BrowserCookies: Sendable {
    /// How long a browser keeps what it is known by: the longest that browsers keep a cookie.
    private static let browserLifetime = Seconds.days(400)
    /// How long a browser is offered no passkey after it was offered one, or has used one.
    private static let offerPause = Seconds.days(90)

    private let prefix: String
    private let suffix: String
    private let isSecure: Bool

    init(_ issuer: Issuer) {
        isSecure = issuer.description.hasPrefix("https:")
        prefix = isSecure ? "__Host-" : ""
        let port = issuer.description.split(separator: ":").last.flatMap { UInt16($0) }
        suffix = isSecure ? "" : "-\(port ?? 80)"
    }

    private var browserName: String { "\(prefix)countersign-browser\(suffix)" }
    private var sessionName: String { "\(prefix)countersign-session\(suffix)" }
    private var wayName: String { "\(prefix)countersign-way\(suffix)" }
    private var offerName: String { "\(prefix)countersign-passkey-offer\(suffix)" }

    /// What the browser is known by; nil if it has no such cookie.
    func browser(of headers: HTTPFields) -> BrowserID? {
        value(browserName, in: headers).flatMap { BrowserID($0) }
    }

    /// The secret of the browser's session; nil if it has none.
    func session(of headers: HTTPFields) -> Secret<String>? {
        value(sessionName, in: headers).map { Secret($0) }
    }

    /// The way that was chosen in the browser last; nil if it does not say.
    func way(of headers: HTTPFields) -> SignInWay? {
        value(wayName, in: headers).flatMap { SignInWay(rawValue: $0) }
    }

    /// Whether the browser is offered no passkey for now.
    func pausesOffers(in headers: HTTPFields) -> Bool { value(offerName, in: headers) != nil }

    /// The field that makes a browser known.
    func setting(_ browser: BrowserID) -> String {
        cookie(browserName, browser.text.reveal(), for: Self.browserLifetime)
    }

    /// The field that gives a browser its session.
    func setting(_ session: FinishSignIn.OpenedSession, at now: Timestamp) -> String {
        cookie(sessionName, session.secret.reveal(), for: session.expiresAt - now)
    }

    /// The field by which a browser keeps the way that was chosen there.
    func setting(_ way: SignInWay) -> String { cookie(wayName, way.rawValue, for: Self.browserLifetime) }

    /// The field that takes a browser's session away.
    var endingSession: String { cookie(sessionName, "", for: 0) }

    /// The field with which a browser is offered no passkey for a while.
    var pausingOffers: String { cookie(offerName, "later", for: Self.offerPause) }

    /// The field with which a browser is offered no passkey as long as it keeps it.
    var endingOffers: String { cookie(offerName, "never", for: Self.browserLifetime) }

    private func cookie(_ name: String, _ value: String, for length: Seconds) -> String {
        "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax; Max-Age=\(length)\(isSecure ? "; Secure" : "")"
    }

    /// The value of a cookie; nil if there is none, or more than one.
    private func value(_ name: String, in headers: HTTPFields) -> String? {
        let values = headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { part -> Substring? in
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return pair.count == 2 && pair[0].hasSameBytes(as: name) ? pair[1] : nil
        }
        return values.count == 1 ? String(values[0]) : nil
    }
}
