/// The page that asks who is signing in.
package struct IdentifierPage: HostedPage {
    /// The field with what was typed.
    package static let field = "identifier"

    /// Why the passkey that was used does not sign in.
    package enum PasskeyProblem: Hashable, Sendable {
        /// It does not sign in here.
        case refused
        /// It counts from a time on, in seconds since 1970.
        case waiting(until: Int)
    }

    /// Where the form posts to.
    package var action: String
    /// Where "Sign in with a QR code" posts to, as ``ChooseWayPage/field`` "qr"; nil for no such button.
    package var qrAction: String?
    /// What was typed before.
    package var typed: String?
    /// Whether what was typed is neither an email address nor a phone number.
    package var hasFieldError: Bool
    /// What "Use a passkey" needs, and the field that offers them; nil for neither.
    package var passkey: PasskeyOffer?
    /// Why the passkey that was used does not sign in, if one was.
    package var passkeyProblem: PasskeyProblem?

    /// Creates the page.
    package init(
        action: String, qrAction: String? = nil, typed: String? = nil, hasError: Bool = false,
        passkey: PasskeyOffer? = nil, passkeyProblem: PasskeyProblem? = nil
    ) {
        self.action = action
        self.qrAction = qrAction
        self.typed = typed
        hasFieldError = hasError
        self.passkey = passkey
        self.passkeyProblem = passkeyProblem
    }

    /// Whether something is wrong.
    package var hasError: Bool { hasFieldError || passkeyProblem != nil }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let until: Int? = if case .waiting(let until) = passkeyProblem { until } else { nil }
        return Dictionary(present: [
            "action": action, "qrAction": qrAction, "typed": typed ?? "",
            "hasFieldError": hasFieldError && passkeyProblem == nil, "passkey": passkey?.values,
            // A browser that has one passkey alone may suggest the refused one again and again.
            "suggestsPasskeys": passkey != nil && passkeyProblem == nil, "isRefused": passkeyProblem == .refused,
            "until": until.map { frame.moment($0) },
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "identifier", heading: "[[identifierHeading]]", scripts: [.passkey],
        main: """
            {{#isRefused}}
            \(problem("passkeyRefused"))
            {{/isRefused}}
            {{#until}}
            \(problem("passkeyWaits"))
            {{/until}}
            <form method="post" action="{{action}}" novalidate="novalidate">\(PageFrame.sealedRequest)
            <label for="identifier">[[identifierLabel]]</label>
            {{#hasFieldError}}
            \(problem("identifierProblem"))
            {{/hasFieldError}}
            <input id="identifier" name="identifier" value="{{typed}}" inputmode="email" \
            autocomplete="username{{#suggestsPasskeys}} webauthn{{/suggestsPasskeys}}" autocapitalize="none" spellcheck="false" dir="ltr"\
            {{#hasFieldError}} aria-invalid="true"{{/hasFieldError}}\
            {{#hasError}} aria-describedby="problem" autofocus="autofocus"{{/hasError}} />
            <p class="acts"><button class="filled">[[continueButton]]</button></p>
            </form>
            {{#qrAction}}
            <div class="rule">
            {{#hasClient}}
            <p class="small">[[nothingToType]]</p>
            {{/hasClient}}
            <button class="link" form="other" formaction="{{qrAction}}" name="way" value="qr">[[signInWithQR]]</button>
            </div>
            {{/qrAction}}
            {{#passkey}}
            <div class="{{^qrAction}}rule {{/qrAction}}if-live">
            <p class="small">[[orWithPasskey]]</p>
            <button class="link" \(PasskeyOffer.using)>[[passkeyWay]]</button>
            </div>
            {{/passkey}}
            """)

    private static func problem(_ word: String) -> String {
        #"<p class="error" id="problem">\#(Icons.sign)<span>[[\#(word)]]</span></p>"#
    }
}
