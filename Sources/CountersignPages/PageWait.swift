/// A time that runs out while one looks at the page.
package struct PageCountdown: Hashable, Sendable {
    /// When it began, in seconds since 1970.
    package var beginsAt: Int
    /// When it ends, in seconds since 1970.
    package var expiresAt: Int

    /// Creates a countdown.
    package init(beginsAt: Int, expiresAt: Int) {
        self.beginsAt = beginsAt
        self.expiresAt = expiresAt
    }

    func values(in frame: PageFrame) -> [String: Any] {
        [
            "begins": String(beginsAt), "ends": String(expiresAt), "now": String(frame.now),
            "left": PageTime.left(expiresAt - frame.now), "until": frame.timeOfDay(expiresAt),
        ]
    }

    /// What the script needs, with what it says at one minute, 30 and 10 seconds.
    static let attributes = """
        data-begins="{{begins}}" data-ends="{{ends}}" data-now="{{now}}" data-says60="[[sayMinute|plain]]" \
        data-says30="[[sayHalfMinute|plain]]" data-says10="[[sayTenSeconds|plain]]"
        """
}

/// How a page waits for an outcome on the phone.
package struct PageWait: Hashable, Sendable {
    /// The path that answers with the state and the path to go on to.
    ///
    /// The script adds `?wait=25`. The answer is `{"state": …, "next": …}`, the state one of "open", "scanned",
    /// "approved", "declined", "ended", and "offered", where the page has something else to show.
    package var statePath: String
    /// The path of the page itself, for looking again by hand.
    package var pagePath: String
    /// The path of the page that looks again by itself where scripts do not run; nil for no such button.
    package var refreshingPath: String?
    /// Whether this is the page that looks again by itself.
    package var isRefreshing: Bool

    /// Creates a wait.
    package init(statePath: String, pagePath: String, refreshingPath: String? = nil, isRefreshing: Bool = false) {
        self.statePath = statePath
        self.pagePath = pagePath
        self.refreshingPath = refreshingPath
        self.isRefreshing = isRefreshing
    }

    var values: [String: Any] {
        Dictionary(present: [
            "state": statePath, "lookAgain": pagePath, "lookByItself": refreshingPath, "looksAgain": isRefreshing,
        ])
    }

    /// What the script needs, with what it says of each state.
    static let attributes = """
        data-state="{{state}}" data-approved="{{#hasClient}}[[sayApproved|plain]]{{/hasClient}}" \
        data-declined="[[sayDeclined|plain]]" data-ended="[[sayEnded|plain]]" data-scanned="[[sayScanned|plain]]"
        """
}

/// The buttons of a page that waits.
package struct PageExits: Hashable, Sendable {
    /// Where "Use another way" posts to.
    package var anotherWayAction: String?
    /// Where "Cancel sign-in" posts to.
    package var cancelAction: String?

    /// Creates the buttons; one whose path is nil is not there.
    package init(anotherWayAction: String? = nil, cancelAction: String? = nil) {
        self.anotherWayAction = anotherWayAction
        self.cancelAction = cancelAction
    }

    var values: [String: Any] { Dictionary(present: ["anotherWay": anotherWayAction, "cancel": cancelAction]) }

    /// The buttons, inside an element of the class `acts`.
    static let template = """
        {{#anotherWay}}
        <button class="outlined" form="other" formaction="{{anotherWay}}">[[useAnotherWay]]</button>
        {{/anotherWay}}
        {{#cancel}}
        <button class="link" form="other" formaction="{{cancel}}">[[cancelSignIn]]</button>
        {{/cancel}}
        """
}
