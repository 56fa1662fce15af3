/// Page 1, which asks who is signing in.
package struct IdentifierPage: HostedPage {
    /// The field with what was typed.
    package static let field = "identifier"

    /// Where the form posts to.
    package var action: String
    /// Where "Sign in with a QR code" posts to, as ``ChooseWayPage/field`` "qr"; nil for no such button.
    package var qrAction: String?
    /// What was typed before.
    package var typed: String?
    /// Whether what was typed is neither an email address nor a phone number.
    package var hasError: Bool

    /// Creates the page.
    package init(action: String, qrAction: String? = nil, typed: String? = nil, hasError: Bool = false) {
        self.action = action
        self.qrAction = qrAction
        self.typed = typed
        self.hasError = hasError
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: ["action": action, "qrAction": qrAction, "typed": typed ?? ""])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "identifier", heading: "[[identifierHeading]]",
        main: """
            <form method="post" action="{{action}}" novalidate="novalidate">\(PageFrame.sealedRequest)
            <label for="identifier">[[identifierLabel]]</label>
            {{#hasError}}
            <p class="error" id="problem">\(Icons.sign)<span>[[identifierProblem]]</span></p>
            {{/hasError}}
            <input id="identifier" name="identifier" value="{{typed}}" inputmode="email" \
            autocomplete="username webauthn" autocapitalize="none" spellcheck="false" dir="ltr"\
            {{#hasError}} aria-invalid="true" aria-describedby="problem" autofocus="autofocus"{{/hasError}} />
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
            """)
}
