/// The page that asks whether the client may do what it wants.
package struct ConsentPage: HostedPage {
    /// The field with the answer: "allow" or "refuse".
    package static let field = "decision"

    /// What is allowed, one row each.
    package enum Item: Hashable, Sendable {
        /// Knowing the person again.
        case identity
        /// Seeing the email address, now or when there is one.
        case email(String?, isVerified: Bool)
        /// Seeing the phone number, given here with its middle hidden, now or when there is one.
        case phone(String?, isVerified: Bool)
        /// A refresh token, which ends after some days without use.
        case staySignedIn(days: Int)
        /// Adding a device, within minutes of the sign-in.
        case addDevice
        /// A scope of the operator's, in the operator's words in the page's language.
        case other(title: String, detail: String)
    }

    /// Where both answers post to.
    package var action: String
    /// The rows.
    package var items: [Item]
    /// The path of the account page; nil for no such sentence.
    package var accountPath: String?

    /// Creates the page.
    package init(action: String, items: [Item], accountPath: String? = nil) {
        self.action = action
        self.items = items
        self.accountPath = accountPath
    }

    /// The words above the client's name.
    package var label: PageFrame.Label { .askedBy }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: ["action": action, "items": items.map(Self.values), "account": accountPath])
    }

    static func values(of item: Item) -> [String: Any] {
        switch item {
        case .identity: ["isIdentity": true]
        case .email(let address, let isVerified):
            Dictionary(present: ["isEmail": true, "value": address, "isVerified": isVerified])
        case .phone(let number, let isVerified):
            Dictionary(present: ["isPhone": true, "value": number, "isVerified": isVerified])
        case .staySignedIn(let days): ["isStay": true, "days": String(days)]
        case .addDevice: ["isDevice": true]
        case .other(let title, let detail): ["isOther": true, "title": title, "detail": detail]
        }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "consent", heading: "[[consentHeading]]",
        main: """
            \(list)
            <p class="soft">[[learnsNothingElse]]{{#account}} [[endInAccount]]{{/account}}</p>
            <form method="post" action="{{action}}">\(PageFrame.sealedRequest)
            <p class="acts">
            <button class="filled" name="decision" value="allow">[[allow]]</button>
            <button class="outlined" name="decision" value="refuse">[[doNotAllow]]</button>
            </p>
            </form>
            <p class="small">[[eitherWay]]</p>
            """)

    /// The rows, for ``DeviceConfirmPage`` too.
    static let list = """
        <ul class="items">
        {{#items}}
        <li>
        {{#isIdentity}}
        <b>[[scopeIdentity]]</b><span class="small">[[scopeIdentityDetail]]</span>
        {{/isIdentity}}
        {{#isEmail}}
        <b>[[scopeEmail]]</b>\(verification)
        {{/isEmail}}
        {{#isPhone}}
        <b>[[scopePhone]]</b>\(verification)
        {{/isPhone}}
        {{#isStay}}
        <b>[[scopeStay]]</b><span class="small">[[scopeStayDetail]]</span>
        {{/isStay}}
        {{#isDevice}}
        <b>[[scopeDevice]]</b><span class="small">[[scopeDeviceDetail]]</span>
        {{/isDevice}}
        {{#isOther}}
        <b><bdi>{{title}}</bdi></b><span class="small"><bdi>{{detail}}</bdi></span>
        {{/isOther}}
        </li>
        {{/items}}
        </ul>
        """

    private static let verification = """
        <span class="small">{{#value}}{{#isVerified}}[[verified]]{{/isVerified}}\
        {{^isVerified}}[[unverified]]{{/isVerified}}{{/value}}{{^value}}[[noneKnown]]{{/value}}</span>
        """
}
