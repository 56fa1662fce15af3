/// The page that says that one is signed out.
package struct SignedOutPage: HostedPage {
    /// The client's address, where "Back to …" leads; nil for no such button.
    package let clientURL: String?
    /// Where "Sign in again" leads; nil for no such button.
    package let signInURL: String?

    /// Creates the page; an address that is none of http or https has no button.
    package init(clientURL: String? = nil, signInURL: String? = nil) {
        self.clientURL = clientURL.flatMap { PageAddress.isOfTheWeb($0) ? $0 : nil }
        self.signInURL = signInURL.flatMap { PageAddress.isOfTheWeb($0) ? $0 : nil }
    }

    /// The words above the client's name.
    package var label: PageFrame.Label { .signedOut }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "clientURL": frame.client == nil ? nil : clientURL, "signInURL": signInURL,
            "hasActs": (clientURL != nil && frame.client != nil) || signInURL != nil,
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "signed-out", heading: "[[signedOutHeading]]", takesFocus: true,
        main: """
            <p>{{#hasClient}}[[signedOutText]]{{/hasClient}}{{^hasClient}}[[signedOutTextNobody]]{{/hasClient}}</p>
            {{#hasActs}}
            <p class="acts">
            {{#clientURL}}
            <a class="filled" href="{{clientURL}}">[[backToClient]]</a>
            {{/clientURL}}
            {{#signInURL}}
            <a class="outlined" href="{{signInURL}}">[[signInAgain]]</a>
            {{/signInURL}}
            </p>
            {{/hasActs}}
            <p class="rule small">[[closeWindows]]</p>
            """)
}

/// The page that asks whether to sign out, where no valid `id_token_hint` says so already.
package struct SignOutPage: HostedPage {
    /// The field with the answer: "out", "stay" or "all".
    package static let field = "decision"

    /// Where the answers post to.
    package var action: String
    /// Whether whoever stays signed in goes back to the client.
    package var isStayOffered: Bool
    /// Where whoever stays signed in goes otherwise, the path of the account page; nil for nowhere.
    package var accountPath: String?

    /// Creates the page.
    package init(action: String, isStayOffered: Bool = true, accountPath: String? = nil) {
        self.action = action
        self.isStayOffered = isStayOffered
        self.accountPath = accountPath
    }

    /// The words above the client's name.
    package var label: PageFrame.Label { .askedBy }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "action": action, "isStayOffered": isStayOffered, "accountPath": isStayOffered ? nil : accountPath,
            "isNothingOffered": !isStayOffered && accountPath == nil,
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "sign-out",
        heading: "{{#hasClient}}[[signOutHeading]]{{/hasClient}}{{^hasClient}}[[signOutHeadingNobody]]{{/hasClient}}",
        main: """
            <p>[[signOutText]]</p>
            <form method="post" action="{{action}}">\(PageFrame.sealedRequest)
            <p class="acts">
            <button class="filled" name="decision" value="out">[[signOut]]</button>
            {{#isStayOffered}}
            <button class="outlined" name="decision" value="stay">[[staySignedIn]]</button>
            {{/isStayOffered}}
            {{#accountPath}}
            <a class="outlined" href="{{accountPath}}">[[staySignedIn]]</a>
            {{/accountPath}}
            </p>
            <p class="acts"><button class="link" name="decision" value="all">[[signOutOfAll]]</button></p>
            </form>
            {{#isNothingOffered}}
            <p class="rule small">[[closeToStay]]</p>
            {{/isNothingOffered}}
            """)
}
