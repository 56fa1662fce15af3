extension PageFrame {
    /// What the panel of a page shows.
    enum Panel: Hashable {
        /// Who asks, as whom, from where and when.
        case asking
        /// Who is signed in, and the way to the parts of the account; nil where the page is all of the account.
        case account(at: AccountPart?)
    }

    /// A part of the account page, named as its heading is.
    enum AccountPart: String, CaseIterable {
        case addresses
        case devices
        case passkeys
        case sessions
        case access
        case activity

        fileprivate var word: PageWord {
            switch self {
            case .addresses: .accountAddresses
            case .devices: .accountDevices
            case .passkeys: .accountPasskeys
            case .sessions: .accountSessions
            case .access: .accountAccess
            case .activity: .accountActivity
            }
        }
    }

    /// The panel of the pages of the account.
    ///
    /// On a small screen the pages below the account page name their part alone: all the others are on that page.
    ///
    /// - Parameter part: the part to which the page belongs; nil for the account page itself.
    static func accountHeader(at part: AccountPart?) -> String {
        let links = AccountPart.allCases.map { one in
            let page = part == nil ? "" : AccountPage.path
            let mark = one == part ? #" aria-current="true""# : ""
            let link = #"<a href="\#(page)#\#(one.rawValue)"\#(mark)>[[\#(one.word.rawValue)]]</a>"#
            return one == .passkeys && part != one ? "{{#showsPasskeys}}\n\(link)\n{{/showsPasskeys}}" : link
        }
        let type = part == nil ? "" : #" class="below""#
        return """
            <header>
            <div class="who">
            {{#logo}}
            <img class="logo" src="{{logo}}" alt="" />
            {{/logo}}
            <div>
            {{#identifier}}
            <p>[[signedInAs]]</p>
            <p class="client"><bdi dir="ltr">{{identifier}}</bdi></p>
            {{/identifier}}
            {{^identifier}}
            <p>[[signedInAt]]</p>
            <p class="client"><bdi dir="ltr">{{issuer}}</bdi></p>
            {{/identifier}}
            </div>
            </div>
            {{#identifier}}
            <p class="small"><bdi dir="ltr">{{issuer}}</bdi></p>
            {{/identifier}}
            <nav\(type) aria-label="[[accountHeading|plain]]">
            \(links.joined(separator: "\n"))
            <a href="/oauth2/logout">[[signOut]]</a>
            </nav>
            </header>
            """
    }

    /// The line that says what was just done, where something was: it takes the focus, and so it is read out.
    ///
    /// A status that is in the page from the start is not read out by itself.
    static func announcing(_ announcement: String) -> String {
        """
        {{#announcement}}
        <p role="status" class="shown" tabindex="-1" autofocus="autofocus">\(announcement)</p>
        {{/announcement}}
        {{^announcement}}
        \(status)
        {{/announcement}}
        """
    }
}
