/// What every page shares: who asks, as whom, from where, when, and at whose host one is.
package struct PageFrame: Sendable {
    /// The words above the client's name.
    package enum Label: Sendable {
        case signIn
        case askedBy
        case signedOut
    }

    /// The client on whose behalf the page is shown.
    package struct Client: Sendable {
        /// The registered name.
        package var name: String
        /// The host of its site.
        package var host: String
        /// The path of its logo on our own host.
        package var logoPath: String?
        /// The path of the stylesheet on our own host that sets `--accent` for light and dark.
        package var accentPath: String?

        /// Creates a client.
        package init(name: String, host: String, logoPath: String? = nil, accentPath: String? = nil) {
            self.name = name
            self.host = host
            self.logoPath = logoPath
            self.accentPath = accentPath
        }
    }

    /// The facts of a request, in the order and words of every other place that shows them.
    package struct Ledger: Sendable {
        /// As whom one signs in.
        package var identifier: String?
        /// Whether one signs in as whom the client names, by a name of its own that the page does not show: the client could
        /// have chosen any text.
        package var isNamedByClient: Bool
        /// Where the button "Change" posts the request to; nil for no button.
        package var changePath: String?
        /// The browser, in the page's language: "Firefox on Windows".
        package var browser: String?
        /// The place, in the page's language: "Berlin, Germany"; nil where it is unknown.
        package var place: String?
        /// The network address.
        package var address: String?
        /// When it was asked, in seconds since 1970.
        package var askedAt: Int?

        /// Creates a ledger; a fact that is nil has no row.
        package init(
            identifier: String? = nil, isNamedByClient: Bool = false, changePath: String? = nil, browser: String? = nil,
            place: String? = nil, address: String? = nil, askedAt: Int? = nil
        ) {
            self.identifier = identifier
            self.isNamedByClient = isNamedByClient
            self.changePath = changePath
            self.browser = browser
            self.place = place
            self.address = address
            self.askedAt = askedAt
        }

        var isEmpty: Bool {
            identifier == nil && !isNamedByClient && browser == nil && place == nil && address == nil && askedAt == nil
        }
    }

    /// How one changes the language; the parameter `ui_locales` names the other one.
    package enum LanguageSwitch: Sendable {
        /// A link to a path without a query.
        case link(String)
        /// A form that carries the sealed request.
        case post(String)
    }

    /// The language of the page.
    package var language: PageLanguage
    /// The host of the deployment.
    package var issuerHost: String
    /// The client; nil where none is known.
    package var client: Client?
    /// The facts.
    package var ledger: Ledger
    /// The sealed request, which every form carries in the field `request`.
    package var request: String?
    /// The URL of the operator's help.
    package var helpURL: String?
    /// The URL of the operator's privacy notice.
    package var privacyURL: String?
    /// How one changes the language; nil for not at all.
    package var languageSwitch: LanguageSwitch?
    /// The clock for times of day.
    package var clock: PageClock
    /// When the page is rendered, in seconds since 1970.
    package var now: Int

    /// Creates a frame.
    package init(
        language: PageLanguage, issuerHost: String, client: Client? = nil, ledger: Ledger = Ledger(),
        request: String? = nil, helpURL: String? = nil, privacyURL: String? = nil,
        languageSwitch: LanguageSwitch? = nil, clock: PageClock = .utc, now: Int
    ) {
        self.language = language
        self.issuerHost = issuerHost
        self.client = client
        self.ledger = ledger
        self.request = request
        self.helpURL = helpURL
        self.privacyURL = privacyURL
        self.languageSwitch = languageSwitch
        self.clock = clock
        self.now = now
    }

    /// A moment as a time of day.
    func timeOfDay(_ epochSeconds: Int) -> String { time(epochSeconds).ofDay }

    /// A moment with its date.
    func momentWithDate(_ epochSeconds: Int) -> String { time(epochSeconds).withDate }

    /// A moment with its day, as "today, 08:41" or "24 November, 09:30".
    func moment(_ epochSeconds: Int, as role: PageTime.Role = .object) -> String {
        time(epochSeconds).near(now, as: role)
    }

    /// A day, as "today" or "4 March 2026".
    func day(_ epochSeconds: Int, as role: PageTime.Role = .object) -> String {
        time(epochSeconds).day(at: now, as: role)
    }

    private func time(_ epochSeconds: Int) -> PageTime {
        PageTime(epochSeconds: epochSeconds, clock: clock, language: language)
    }

    /// The values of the frame, by the names in its template.
    func values(label: Label, hasError: Bool) -> [String: Any] {
        let other: PageLanguage = language == .english ? .german : .english
        var values: [String: Any?] = [
            "language": language.rawValue, "issuer": issuerHost, "hasError": hasError, "request": request,
            "hasClient": client != nil, "client": client?.name, "clientHost": client?.host, "logo": client?.logoPath,
            "accent": client?.accentPath, "owner": client?.name ?? issuerHost,
            "isSignIn": label == .signIn, "isAskedBy": label == .askedBy, "isSignedOut": label == .signedOut,
            "hasLedger": !ledger.isEmpty, "identifier": ledger.identifier,
            "isNamedByClient": ledger.isNamedByClient, "change": ledger.changePath,
            "hasFrom": ledger.browser != nil || ledger.place != nil || ledger.address != nil,
            "browser": ledger.browser, "ledgerPlace": ledger.place, "ledgerAddress": ledger.address,
            "hasBoth": ledger.place != nil && ledger.address != nil,
            "place": ledger.place ?? ledger.address, "askedAt": ledger.askedAt.map { time($0).withDate },
            "askedAtUTC": ledger.askedAt.map(PageTime.inUTC), "helpURL": helpURL, "privacyURL": privacyURL,
            "otherLanguage": other.rawValue, "otherLanguageName": other.ownName,
        ]
        switch languageSwitch {
        case .link(let path): values["languageLink"] = path
        case .post(let path): values["languagePost"] = path
        case nil: break
        }
        return Dictionary(present: values)
    }
}
