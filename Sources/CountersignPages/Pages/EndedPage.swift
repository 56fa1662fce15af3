/// The page of a sign-in that came to nothing.
///
/// The authorization stays open, so that another way can be tried.
package struct EndedPage: HostedPage {
    /// Why it ended, as far as the page may tell.
    package enum Reason: Hashable, Sendable {
        /// Nobody approved the number. In an unknown browser this is also said of a denial, a report and an unknown
        /// user: the same bytes.
        case numberExpired
        /// Nobody approved the QR code.
        case codeExpired
        /// Declined or reported, in a known browser, at a time in seconds since 1970.
        case declined(at: Int)
    }

    /// Why it ended.
    package var reason: Reason
    /// Where "Start again" posts to.
    package var againAction: String
    /// Where "Use another way" posts to.
    package var anotherWayAction: String?
    /// Where "Back to …" posts to, which refuses the authorization; nil for no such button.
    package var backAction: String?

    /// Creates the page.
    package init(reason: Reason, againAction: String, anotherWayAction: String? = nil, backAction: String? = nil) {
        self.reason = reason
        self.againAction = againAction
        self.anotherWayAction = anotherWayAction
        self.backAction = backAction
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        var values: [String: Any?] = [
            "again": againAction, "anotherWay": anotherWayAction, "back": backAction, "isDeclined": false,
            "isNumber": reason == .numberExpired, "isCode": reason == .codeExpired,
        ]
        if case .declined(let time) = reason {
            values["isDeclined"] = true
            values["declinedAt"] = frame.timeOfDay(time)
        }
        return Dictionary(present: values)
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "ended",
        heading: "{{#isDeclined}}[[declinedHeading]]{{/isDeclined}}{{^isDeclined}}[[endedHeading]]{{/isDeclined}}",
        takesFocus: true,
        main: """
            <p>{{#isDeclined}}[[declinedText]]{{/isDeclined}}{{#isNumber}}[[endedNumber]]{{/isNumber}}\
            {{#isCode}}[[endedCode]]{{/isCode}}</p>
            {{#isDeclined}}
            <p class="soft">[[declinedHint]]</p>
            {{/isDeclined}}
            <div class="acts">
            <button class="filled" form="other" formaction="{{again}}">[[startAgain]]</button>
            {{#anotherWay}}
            <button class="outlined" form="other" formaction="{{anotherWay}}">[[useAnotherWay]]</button>
            {{/anotherWay}}
            </div>
            {{#hasClient}}{{#back}}
            <p class="acts"><button class="link" form="other" formaction="{{back}}">[[backToClient]]</button></p>
            {{/back}}{{/hasClient}}
            """)
}
