/// What a sign-in was begun for and from where, as the pages behind a link in a mail name it.
package struct LinkFacts: Hashable, Sendable {
    /// The client's name.
    package var client: String
    /// The host of its site.
    package var host: String
    /// The browser that asked: "Firefox on Windows"; nil where it is unknown.
    package var browser: String?
    /// The place and the network address that asked; nil where they are unknown.
    package var place: String?

    /// Creates facts.
    package init(client: String, host: String, browser: String?, place: String?) {
        self.client = client
        self.host = host
        self.browser = browser
        self.place = place
    }

    fileprivate var values: [String: Any] {
        Dictionary(present: [
            "forClient": client, "forHost": host, "hasOrigin": browser != nil || place != nil, "fromBrowser": browser,
            "fromPlace": place,
        ])
    }

    fileprivate static let forRow = """
        <div><dt>[[linkFor]]</dt><dd><b><bdi>{{forClient}}</bdi></b>\
        <span class="soft"><bdi dir="ltr">{{forHost}}</bdi></span></dd></div>
        """

    fileprivate static func originRow(_ word: String) -> String {
        """
        {{#hasOrigin}}
        <div><dt>[[\(word)]]</dt><dd>{{#fromBrowser}}<b><bdi>{{fromBrowser}}</bdi></b>{{/fromBrowser}}\
        {{#fromPlace}}<span class="soft"><bdi dir="ltr">{{fromPlace}}</bdi></span>{{/fromPlace}}</dd></div>
        {{/hasOrigin}}
        """
    }
}

/// The page of a link in the browser that asked: one press signs in.
///
/// Opening the page does nothing, since programs open the links of mails.
package struct LinkHerePage: HostedPage {
    /// Where the form posts to.
    package var action: String

    /// Creates the page.
    package init(action: String) { self.action = action }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] { ["action": action] }

    /// The template of the page.
    package static let template = PageTemplate(
        "link-here", heading: "[[linkHereHeading]]",
        main: """
            <p>[[linkHereText]]</p>
            <form method="post" action="{{action}}">\(PageFrame.sealedRequest)
            <p class="acts"><button class="filled">[[linkSignIn]]</button></p>
            </form>
            """)
}

/// The page of a link that was opened in another browser than the one that asked.
///
/// The code stands on the next page only, so that no program that opens links has it in a picture.
package struct LinkElsewherePage: HostedPage {
    /// What was asked for.
    package var facts: LinkFacts
    /// When, in seconds since 1970.
    package var askedAt: Int
    /// Where "Show the code" posts to.
    package var action: String

    /// Creates the page.
    package init(facts: LinkFacts, askedAt: Int, action: String) {
        self.facts = facts
        self.askedAt = askedAt
        self.action = action
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        facts.values.merging(["at": frame.momentWithDate(askedAt), "action": action]) { $1 }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "link-elsewhere", heading: "[[linkElsewhereHeading]]",
        main: """
            <p>[[linkElsewhereText]]</p>
            <dl class="facts">
            \(LinkFacts.forRow)
            \(LinkFacts.originRow("linkFrom"))
            <div><dt>[[factAt]]</dt><dd><b>{{at}}</b></dd></div>
            </dl>
            <form method="post" action="{{action}}">
            <p class="acts"><button class="filled">[[linkShowCode]]</button></p>
            </form>
            <p class="small">[[linkNotAsked]]</p>
            """)
}

/// The page with the code of a link, to be typed in the browser that asked.
package struct LinkCodePage: HostedPage {
    /// The six digits.
    package var digits: String
    /// Until when the code is good, in seconds since 1970.
    package var expiresAt: Int
    /// What was asked for.
    package var facts: LinkFacts

    /// Creates the page.
    package init(digits: String, expiresAt: Int, facts: LinkFacts) {
        self.digits = digits
        self.expiresAt = expiresAt
        self.facts = facts
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        facts.values.merging(SpokenNumber.values(of: digits)) { $1 }
            .merging(["until": frame.timeOfDay(expiresAt)]) { $1 }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "link-code", heading: "[[linkCodeHeading]]",
        main: """
            <div class="clock">
            \(SpokenNumber.template)
            <p class="small">[[linkCodeUntil]]</p>
            </div>
            <dl class="facts">
            \(LinkFacts.forRow)
            \(LinkFacts.originRow("linkTypeIn"))
            </dl>
            <p class="rule">[[linkCodeWarning]]</p>
            """)
}
