/// What a page needs to use or to create a passkey in the browser.
package struct PasskeyOffer: Hashable, Sendable {
    /// The field with the browser's answer, as JSON.
    package static let field = "credential"
    /// The field with which a browser says that it keeps passkeys, and opens them by a screen lock.
    package static let keepingField = "passkeys"

    /// The options of the ceremony as JSON.
    ///
    /// The browser reads them by `parseRequestOptionsFromJSON` or `parseCreationOptionsFromJSON`.
    package var options: String
    /// Where the answer is posted to, with the sealed request.
    package var action: String

    /// Creates an offer.
    package init(options: String, action: String) {
        self.options = options
        self.action = action
    }

    var values: [String: Any] { ["options": options, "credentialAction": action] }

    /// What the script needs of the button that uses a passkey, inside a section of the offer's values.
    static let using = """
        form="other" formaction="{{credentialAction}}" data-passkey-get="{{options}}" \
        data-says-cancelled="[[passkeyNotUsed|plain]]" data-says-failed="[[passkeyFailed|plain]]"
        """

    /// The same of the button that creates one.
    static let creating = """
        form="other" formaction="{{credentialAction}}" data-passkey-create="{{options}}" \
        data-says-cancelled="[[passkeyNotMade|plain]]" data-says-failed="[[passkeyMakingFailed|plain]]" \
        data-says-exists="[[passkeyExists|plain]]"
        """
}
