/// The page after the approval, which goes on to another one of ours by itself.
package struct ApprovedPage: HostedPage {
    /// The path to go on to.
    package var nextPath: String

    /// Creates the page.
    package init(nextPath: String) { self.nextPath = nextPath }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] { ["onwardURL": nextPath] }

    /// The template of the page.
    package static let template = PageTemplate(
        "approved", heading: "[[approvedHeading]]", takesFocus: true,
        main: """
            <p>[[goingOnSentence]]</p>
            \(onwardLink)
            """)
}

/// The end of a sign-in: on to the client.
///
/// It is a page of status 200, since browsers hold the redirects after a form against `form-action`.
package struct OnwardPage: HostedPage {
    /// The client's address with the answer.
    package let url: String

    /// Creates the page; nil for an address that a page may not lead to, as any but http and https.
    package init?(url: String) {
        guard PageAddress.isOfTheWeb(url) else { return nil }
        self.url = url
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] { ["onwardURL": url] }

    /// The template of the page.
    package static let template = PageTemplate(
        "onward", heading: "[[goingOn]]", takesFocus: true, main: onwardLink)
}

/// The end of a sign-in in which the answer is posted to the client.
///
/// Spec: OAuth 2.0 Form Post Response Mode §2.
package struct OnwardPostPage: HostedPage {
    /// A field of the answer.
    package struct Field: Hashable, Sendable {
        /// The name.
        package var name: String
        /// The value.
        package var value: String

        /// Creates a field.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The client's address.
    package let url: String
    /// The fields of the answer.
    package let fields: [Field]

    /// Creates the page; nil for an address that a page may not post to, as any but http and https.
    package init?(url: String, fields: [Field]) {
        guard PageAddress.isOfTheWeb(url) else { return nil }
        self.url = url
        self.fields = fields
    }

    /// A policy without `form-action`, since the client may redirect from host to host.
    package var contentSecurityPolicy: String { PageAssets.policy(formAction: nil) }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        ["url": url, "fields": fields.map { ["name": $0.name, "value": $0.value] }]
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "onward-post", heading: "[[goingOn]]", takesFocus: true, scripts: [.onward],
        main: """
            <form id="onward" method="post" action="{{url}}">
            {{#fields}}
            <input type="hidden" name="{{name}}" value="{{value}}" />
            {{/fields}}
            <p class="acts"><button class="filled">[[continueTo]]</button></p>
            </form>
            <p class="rule small">[[goesOnByItself]]</p>
            """)
}

/// The page of a browser that is signed in, where the person is asked whether they go on as who they are.
package struct SignedInElsewherePage: HostedPage {
    /// As whom the browser is signed in.
    package var address: String
    /// Where "Go on as …" posts to.
    package var action: String
    /// Where "Use another address" posts to.
    package var anotherAddressAction: String

    /// Creates the page.
    package init(address: String, action: String, anotherAddressAction: String) {
        self.address = address
        self.action = action
        self.anotherAddressAction = anotherAddressAction
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        ["address": address, "action": action, "another": anotherAddressAction]
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "signed-in-elsewhere", heading: "[[signedInHeading]]", takesFocus: true,
        main: """
            <p>[[signedInText]]</p>
            <div class="acts">
            <button class="filled" form="other" formaction="{{action}}">[[goOnAs]]</button>
            <button class="outlined" form="other" formaction="{{another}}">[[useAnotherAddress]]</button>
            </div>
            """)
}

private let onwardLink = """
    <p class="acts"><a class="filled" href="{{onwardURL}}">[[continueTo]]</a></p>
    <p class="rule small">[[goesOnByItself]]</p>
    """
