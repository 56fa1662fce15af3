/// The page of the account that sets, changes and removes the request code.
///
/// It posts to itself, or to `remove` below. The code that there is, is not shown: nobody knows it but the person.
package struct UserCodePage: HostedPage {
    /// The path of the page.
    package static let path = "/account/request-code"
    /// The field with the code.
    package static let field = "code"

    /// Whether there is a code.
    package var isSet: Bool
    /// Whether what was typed is no code.
    package var hasCodeError: Bool
    /// Whether the account page shows passkeys.
    package var showsPasskeys: Bool

    /// Creates the page.
    package init(isSet: Bool, hasCodeError: Bool = false, showsPasskeys: Bool = false) {
        self.isSet = isSet
        self.hasCodeError = hasCodeError
        self.showsPasskeys = showsPasskeys
    }

    /// Whether something is wrong.
    package var hasError: Bool { hasCodeError }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] { ["isSet": isSet, "showsPasskeys": showsPasskeys] }

    /// The template of the page.
    package static let template = PageTemplate(
        "user-code", panel: .account(at: .devices), heading: "[[userCode]]",
        main: """
            <p>[[userCodeText]]</p>
            <p>[[userCodeHint]]</p>
            <form method="post" action="\(path)" novalidate="novalidate">\(PageFrame.sealedRequest)
            <label for="code">[[userCodeLabel]]</label>
            {{#hasError}}
            <p class="error" id="problem">\(Icons.sign)<span>[[userCodeProblem]]</span></p>
            {{/hasError}}
            <input id="code" name="code" maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" \
            dir="ltr"\
            {{#hasError}} aria-invalid="true" aria-describedby="problem" autofocus="autofocus"{{/hasError}} />
            <p class="acts"><button class="filled">[[saveUserCode]]</button></p>
            </form>
            {{#isSet}}
            <div class="rule">
            <p>[[removeUserCodeText]]</p>
            <p class="acts"><button class="outlined bad" form="other" formaction="\(path)/remove">\
            [[removeUserCode]]</button></p>
            </div>
            {{/isSet}}
            <p class="acts"><a class="link" href="\(AccountPage.path)">[[backToAccount]]</a></p>
            """)

    /// The row of the account page, below the devices, where a code is of use.
    static let row = """
        {{#userCode}}
        <ul class="rows">
        <li><div>
        <b>[[userCode]]</b>
        <span class="small">{{#isSet}}[[userCodeIsSet]]{{/isSet}}{{^isSet}}[[userCodeIsNotSet]]{{/isSet}}</span>
        </div>
        <a class="link" href="\(path)" aria-label="[[changeUserCode|plain]]">[[change]]</a>
        </li>
        </ul>
        {{/userCode}}
        """
}
