/// The page on which one types the code that a device shows.
package struct DeviceCodePage: HostedPage {
    /// The path of the page.
    package static let path = "/device"
    /// The field with the code, in which the case of letters and what separates them do not count.
    package static let field = "user_code"

    /// What is wrong with what was sent.
    package enum Problem: Hashable, Sendable {
        /// No device shows this code, or none any more.
        case unknown
        /// The person's trusted devices cannot be asked now.
        case notAsked
    }

    /// What was typed before, or what the address has.
    package var typed: String?
    /// What was wrong with it.
    package var problem: Problem?

    /// Creates the page.
    package init(typed: String? = nil, problem: Problem? = nil) {
        self.typed = typed
        self.problem = problem
    }

    /// Whether something is wrong.
    package var hasError: Bool { problem != nil }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        [
            "action": Self.path, "typed": typed ?? "", "hasFieldError": problem == .unknown,
            "isNotAsked": problem == .notAsked,
        ]
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "device-code", heading: "[[deviceCodeHeading]]",
        main: """
            {{#isNotAsked}}
            \(PageFrame.refusing("[[deviceNotAsked]]"))
            {{/isNotAsked}}
            <p>[[deviceCodeText]]</p>
            <form method="post" action="{{action}}" novalidate="novalidate">\(PageFrame.sealedRequest)
            <label for="user_code">[[deviceCodeLabel]]</label>
            {{#hasFieldError}}
            <p class="error" id="problem">\(Icons.sign)<span>[[deviceCodeUnknown]]</span></p>
            {{/hasFieldError}}
            <input id="user_code" name="user_code" value="{{typed}}" autocomplete="off" \
            autocapitalize="characters" spellcheck="false" dir="ltr"\
            {{#hasFieldError}} aria-invalid="true" aria-describedby="problem" autofocus="autofocus"{{/hasFieldError}} />
            <p class="acts"><button class="filled">[[continueButton]]</button></p>
            </form>
            <p class="rule">[[deviceCodeWarning]]</p>
            """)
}

/// The page that asks whether one has started what a device asks for.
///
/// Spec: RFC 8628 §5.4.
package struct DeviceConfirmPage: HostedPage {
    /// The field with the answer: "yes" or "no".
    package static let field = "decision"

    /// From where somebody comes.
    package struct Origin: Hashable, Sendable {
        /// The browser or program; nil where it is unknown.
        package var browser: String?
        /// The place and the network address; nil where they are unknown.
        package var place: String?

        /// Creates an origin.
        package init(browser: String?, place: String?) {
            self.browser = browser
            self.place = place
        }
    }

    /// Where the device is, as far as is known.
    package enum Whereabouts: Hashable, Sendable {
        /// In the reader's network, or at their place.
        case here
        /// At another place.
        case elsewhere
        /// Nobody knows where.
        case unknown
    }

    /// Where both answers post to.
    package var action: String
    /// The code that the device shows.
    package var code: String
    /// From where the device asks.
    package var there: Origin
    /// When it asked, in seconds since 1970.
    package var askedAt: Int
    /// Where the reader is.
    package var here: Origin
    /// Where the device is; one that may be in front of somebody else is best stopped.
    package var whereabouts: Whereabouts
    /// What is allowed by a yes; none where it was allowed before.
    package var items: [ConsentPage.Item]

    /// Creates the page.
    package init(
        action: String, code: String, there: Origin, askedAt: Int, here: Origin, whereabouts: Whereabouts,
        items: [ConsentPage.Item] = []
    ) {
        self.action = action
        self.code = code
        self.there = there
        self.askedAt = askedAt
        self.here = here
        self.whereabouts = whereabouts
        self.items = items
    }

    /// The words above the client's name.
    package var label: PageFrame.Label { .askedBy }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "action": action, "code": code, "thereBrowser": there.browser, "therePlace": there.place,
            "isThereKnown": there.browser != nil || there.place != nil, "at": frame.momentWithDate(askedAt),
            "hereBrowser": here.browser, "herePlace": here.place,
            "isHereKnown": here.browser != nil || here.place != nil, "hasItems": !items.isEmpty,
            "isElsewhere": whereabouts == .elsewhere, "isUnknown": whereabouts == .unknown,
            "isStopped": whereabouts != .here,
            "items": items.map { ConsentPage.values(of: $0) },
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "device-confirm", heading: "[[deviceConfirmHeading]]",
        main: """
            {{#isStopped}}
            <p class="error">\(Icons.sign)<span>{{#isElsewhere}}[[deviceElsewhere]]{{/isElsewhere}}\
            {{#isUnknown}}[[deviceWhereabouts]]{{/isUnknown}}</span></p>
            {{/isStopped}}
            <p>[[deviceConfirmText]]</p>
            <dl class="facts">
            <div><dt>[[deviceFactCode]]</dt><dd><b><bdi dir="ltr">{{code}}</bdi></b></dd></div>
            <div><dt>[[deviceFactThere]]</dt><dd>{{^isThereKnown}}[[deviceUnknownPlace]]{{/isThereKnown}}\
            {{#thereBrowser}}<b><bdi>{{thereBrowser}}</bdi></b>{{/thereBrowser}}\
            {{#therePlace}}<span class="soft"><bdi dir="ltr">{{therePlace}}</bdi></span>{{/therePlace}}</dd></div>
            <div><dt>[[factAt]]</dt><dd><b>{{at}}</b></dd></div>
            {{#isHereKnown}}
            <div><dt>[[deviceFactHere]]</dt><dd>{{#hereBrowser}}<b><bdi>{{hereBrowser}}</bdi></b>{{/hereBrowser}}\
            {{#herePlace}}<span class="soft"><bdi dir="ltr">{{herePlace}}</bdi></span>{{/herePlace}}</dd></div>
            {{/isHereKnown}}
            </dl>
            {{#hasItems}}
            <p>[[deviceItems]]</p>
            \(ConsentPage.list)
            {{/hasItems}}
            <form method="post" action="{{action}}">\(PageFrame.sealedRequest)
            <p class="acts">
            {{#isStopped}}
            <button class="filled danger" name="decision" value="no">[[deviceNo]]</button>
            <button class="outlined" name="decision" value="yes">[[deviceYes]]</button>
            {{/isStopped}}
            {{^isStopped}}
            <button class="filled" name="decision" value="yes">[[deviceYes]]</button>
            <button class="outlined" name="decision" value="no">[[deviceNo]]</button>
            {{/isStopped}}
            </p>
            </form>
            <p class="rule">[[deviceConfirmWarning]]</p>
            """)
}

/// The page after the answer to a device, or after the time for it.
package struct DeviceDonePage: HostedPage {
    /// How it has ended.
    package enum End: Hashable, Sendable {
        /// The device is signed in in a moment.
        case approved
        /// The device was refused.
        case denied
        /// Nobody has approved in time.
        case ended
    }

    /// How it has ended.
    package var end: End
    /// Where one begins again, where nobody has decided.
    package var againPath: String

    /// Creates the page.
    package init(end: End, againPath: String) {
        self.end = end
        self.againPath = againPath
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "isApproved": end == .approved, "isDenied": end == .denied, "isEnded": end == .ended,
            "again": end == .ended ? againPath : nil,
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "device-done",
        heading: """
            {{#isApproved}}[[deviceDoneHeading]]{{/isApproved}}{{#isDenied}}[[deviceDeniedHeading]]{{/isDenied}}\
            {{#isEnded}}[[endedHeading]]{{/isEnded}}
            """,
        takesFocus: true,
        main: """
            <p>{{#isApproved}}[[deviceDoneText]]{{/isApproved}}{{#isDenied}}[[deviceDeniedText]]{{/isDenied}}\
            {{#isEnded}}[[endedNumber]]{{/isEnded}}</p>
            {{#again}}
            <p class="acts"><a class="filled" href="{{again}}">[[startAgain]]</a></p>
            {{/again}}
            """)
}
