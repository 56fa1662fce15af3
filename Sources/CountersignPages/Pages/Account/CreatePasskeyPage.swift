/// The page of the account that creates a passkey.
package struct CreatePasskeyPage: HostedPage {
    /// What the browser needs.
    package var offer: PasskeyOffer

    /// Creates the page.
    package init(offer: PasskeyOffer) {
        self.offer = offer
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] { ["passkey": offer.values] }

    /// The template of the page.
    package static let template = PageTemplate(
        "create-passkey", panel: .account(at: .passkeys), heading: "[[createPasskey]]", scripts: [.passkey],
        main: """
            <p>[[passkeyText]]</p>
            <p class="if-still">[[passkeyImpossible]]</p>
            <p class="acts">
            {{#passkey}}
            <button class="filled if-live" \(PasskeyOffer.creating)>[[createPasskey]]</button>
            {{/passkey}}
            <a class="outlined" href="/account">[[backToAccount]]</a>
            </p>
            """)
}
