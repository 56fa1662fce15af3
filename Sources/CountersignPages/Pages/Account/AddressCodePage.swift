/// The page of the account that asks for the code that was sent to an address or number to add.
///
/// It is ``CodePage`` but for what it says: whoever sees it is signed in, and the message was sent.
package struct AddressCodePage: HostedPage {
    /// The field with the code, in which blanks do not count.
    package static let field = CodePage.field

    /// The code, and what is asked of it.
    package var code: CodePage
    /// Where "Use another address" leads.
    package var anotherPath: String
    /// Whether the account page shows passkeys.
    package var showsPasskeys: Bool

    /// Creates the page.
    package init(
        channel: CodePage.Channel, address: String, expiresAt: Int, action: String, resendAction: String,
        resendWait: PageCountdown? = nil, anotherPath: String, typed: String? = nil,
        problem: CodePage.Problem? = nil, showsPasskeys: Bool = false
    ) {
        code = CodePage(
            channel: channel, address: address, expiresAt: expiresAt, action: action, resendAction: resendAction,
            resendWait: resendWait, typed: typed, problem: problem)
        self.anotherPath = anotherPath
        self.showsPasskeys = showsPasskeys
    }

    /// Whether something is wrong.
    package var hasError: Bool { code.hasError }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        code.values(in: frame).merging(["anotherPath": anotherPath, "showsPasskeys": showsPasskeys]) { $1 }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "address-code", panel: .account(at: .addresses), heading: CodePage.heading, scripts: [.clock],
        main: """
            {{^isGone}}
            <p>[[addressCodeText]]</p>
            {{/isGone}}
            \(CodePage.form)
            <p class="acts"><a class="link" href="{{anotherPath}}">[[useAnotherAddress]]</a></p>
            </div>
            """)
}
