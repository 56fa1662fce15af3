extension AccountPage {
    /// What a client may do, by consent or because it holds a refresh token.
    package struct Access: Hashable, Sendable {
        /// A part of what it may do.
        package enum Scope: Hashable, Sendable {
            /// Knowing the person again.
            case identity
            /// Seeing the email address.
            case email
            /// Seeing the phone number.
            case phone
            /// Staying signed in.
            case staySignedIn
            /// Adding devices.
            case addDevice
            /// A scope of the operator's, in the operator's words in the page's language.
            case other(String)
        }

        /// The client's id, the name in paths.
        package var clientID: String
        /// The client's name.
        package var client: String
        /// What it may do.
        package var scopes: [Scope]
        /// Since when, in seconds since 1970.
        package var since: Int

        /// Creates an access.
        package init(clientID: String, client: String, scopes: [Scope], since: Int) {
            self.clientID = clientID
            self.client = client
            self.scopes = scopes
            self.since = since
        }
    }
}

extension AccountPage.Access {
    func values(in frame: PageFrame) -> [String: Any] {
        let parts = scopes.enumerated().map { index, scope in
            Self.values(of: scope).merging(["isFirst": index == 0]) { $1 }
        }
        return [
            "id": PageAddress.segment(clientID), "client": client, "since": frame.day(since), "scopes": parts,
            "hasScopes": !parts.isEmpty,
        ]
    }

    private static func values(of scope: Scope) -> [String: Any] {
        switch scope {
        case .identity: ["mayKnow": true]
        case .email: ["maySeeEmail": true]
        case .phone: ["maySeePhone": true]
        case .staySignedIn: ["mayStay": true]
        case .addDevice: ["mayAddDevice": true]
        case .other(let title): ["title": title]
        }
    }

    /// The rows of the clients.
    static let section = """
        <h2 id="access">[[accountAccess]]</h2>
        {{#hasAccess}}
        <ul class="rows">
        {{#access}}
        <li><div>
        <b><bdi>{{client}}</bdi></b>
        <span class="small scopes">{{#scopes}}{{^isFirst}}, {{/isFirst}}{{#mayKnow}}[[accessIdentity]]{{/mayKnow}}\
        {{#maySeeEmail}}[[accessEmail]]{{/maySeeEmail}}{{#maySeePhone}}[[accessPhone]]{{/maySeePhone}}\
        {{#mayStay}}[[accessStay]]{{/mayStay}}{{#mayAddDevice}}[[accessDevice]]{{/mayAddDevice}}\
        {{#title}}<bdi>{{title}}</bdi>{{/title}}{{/scopes}}\
        {{#hasScopes}}. {{/hasScopes}}[[sinceOnly]]</span>
        </div>
        <button class="link" form="other" formaction="/account/access/{{id}}/end" \
        aria-label="[[endAccess|plain]]">[[end]]</button>
        </li>
        {{/access}}
        </ul>
        {{/hasAccess}}
        {{^hasAccess}}
        <p class="soft">[[noAccess]]</p>
        {{/hasAccess}}
        """
}
