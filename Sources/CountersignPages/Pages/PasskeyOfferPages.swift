/// The page that offers a passkey after a sign-in.
package struct OfferPasskeyPage: HostedPage {
    /// The field with what the person wants of further offers.
    package static let field = "offer"
    /// The value of ``field`` for none in this browser.
    package static let never = "never"

    /// What the browser needs.
    package var offer: PasskeyOffer
    /// Where the buttons post to that go on without a passkey.
    package var action: String
    /// Whether the person has addresses that are told.
    package var tellsAddresses: Bool
    /// From when a passkey counts that is created now, in seconds since 1970; nil where it does at once.
    package var waitsUntil: Int?

    /// Creates the page.
    package init(offer: PasskeyOffer, action: String, tellsAddresses: Bool = true, waitsUntil: Int? = nil) {
        self.offer = offer
        self.action = action
        self.tellsAddresses = tellsAddresses
        self.waitsUntil = waitsUntil
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "passkey": offer.values, "action": action, "tells": tellsAddresses,
            "until": waitsUntil.map { frame.moment($0) },
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "offer-passkey", heading: "[[offerHeading]]", scripts: [.passkey],
        main: """
            <p>[[offerText]]</p>
            <p>{{#tells}}[[offerTells]] {{/tells}}{{#until}}[[offerWaits]] {{/until}}[[offerOwnDevice]]</p>
            <p class="if-still">[[passkeyImpossible]]</p>
            <p class="acts">
            {{#passkey}}
            <button class="filled if-live" \(PasskeyOffer.creating)>[[createPasskey]]</button>
            {{/passkey}}
            <button class="outlined" form="other" formaction="{{action}}">[[notNow]]</button>
            </p>
            <p><button class="link" form="other" formaction="{{action}}" name="\(field)" value="\(never)">\
            [[offerNoMore]]</button></p>
            """)
}

/// The page after ``OfferPasskeyPage``: what came of it, and the way on to the client.
///
/// It does not go on by itself: nobody would read, or hear, what it says.
package struct PasskeyMadePage: HostedPage {
    /// What came of it.
    package enum Outcome: Hashable, Sendable {
        /// The passkey is created; it counts from a time, in seconds since 1970, or at once where that is nil.
        case created(waitsUntil: Int?)
        /// No passkey is created.
        case refused
    }

    /// What came of it.
    package var outcome: Outcome
    /// Where the button posts to that goes on.
    package var action: String

    /// Creates the page.
    package init(_ outcome: Outcome, action: String) {
        self.outcome = outcome
        self.action = action
    }

    /// Whether no passkey is created.
    package var hasError: Bool { outcome == .refused }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let waitsUntil: Int? = if case .created(let time) = outcome { time } else { nil }
        return Dictionary(present: [
            "action": action, "account": AccountPage.path, "announcement": hasError ? nil : true,
            "refusal": hasError ? true : nil, "until": waitsUntil.map { frame.moment($0) },
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "passkey-made", heading: "{{#refusal}}[[offerNotMade]]{{/refusal}}{{^refusal}}[[offerMade]]{{/refusal}}",
        announcement: "[[sayPasskeyMade]]",
        main: """
            {{#refusal}}
            \(PageFrame.refusing("[[offerNotMadeText]]"))
            <p class="soft">[[offerAgain]]</p>
            {{/refusal}}
            {{^refusal}}
            <p>{{#until}}[[offerMadeWaits]]{{/until}}{{^until}}[[offerMadeText]]{{/until}}</p>
            {{/refusal}}
            <p class="acts"><button class="filled" form="other" formaction="{{action}}">[[continueTo]]</button></p>
            """)
}
