extension AccountPage {
    /// A browser or a device that is signed in.
    package struct Session: Hashable, Sendable {
        /// How one signed in.
        package enum Way: Hashable, Sendable {
            /// With the trusted device of this name.
            case device(String)
            /// With the passkey of this name; nil where it is gone.
            case passkey(String?)
            /// With a code or a link by email.
            case email
            /// With a code by text message.
            case text
            /// By typing the code that a device without a browser showed, for the client of this name.
            case deviceCode(client: String)
            /// On a trusted device, which the server of the client of this name had asked.
            case server(client: String)
        }

        /// The name in paths.
        package var id: String
        /// The browser or program, in the page's language: "Firefox on Windows"; nil where it is unknown.
        package var browser: String?
        /// The place, in the page's language: "Berlin, Germany"; nil where it is unknown.
        package var place: String?
        /// When one signed in, in seconds since 1970.
        package var since: Int
        /// When it was last used, in seconds since 1970; not shown of this session.
        package var lastSeen: Int?
        /// How one signed in; nil where that is not known.
        package var way: Way?
        /// Whether it is the session in which the page is shown.
        package var isThisOne: Bool

        /// Creates a session.
        package init(
            id: String, browser: String?, place: String?, since: Int, lastSeen: Int? = nil, way: Way? = nil,
            isThisOne: Bool = false
        ) {
            self.id = id
            self.browser = browser
            self.place = place
            self.since = since
            self.lastSeen = lastSeen
            self.way = way
            self.isThisOne = isThisOne
        }
    }
}

extension AccountPage.Session {
    func values(in frame: PageFrame) -> [String: Any] {
        var values: [String: Any?] = [
            "id": PageAddress.segment(id), "browser": browser, "place": place, "since": frame.moment(since),
            "lastSeen": isThisOne ? nil : lastSeen.map { frame.moment($0) }, "isThisOne": isThisOne,
            "isByEmail": way == .email, "isByText": way == .text, "isByDevice": false, "isByCode": false,
            "isByServer": false, "isByPasskey": false, "isByUnknown": way == nil,
        ]
        switch way {
        case .device(let name):
            values["isByDevice"] = true
            values["device"] = name
        case .passkey(let name):
            values["isByPasskey"] = true
            values["name"] = name
        case .deviceCode(let client):
            values["isByCode"] = true
            values["client"] = client
        case .server(let client):
            values["isByServer"] = true
            values["client"] = client
        case .email, .text, nil: break
        }
        return Dictionary(present: values)
    }

    /// The rows of the sessions.
    static let section = """
        <h2 id="sessions">[[accountSessions]]</h2>
        {{#hasSessions}}
        <ul class="rows">
        {{#sessions}}
        <li><div>
        <b>{{#.browser}}<bdi>{{browser}}</bdi>{{/.browser}}{{^.browser}}[[unknownBrowser]]{{/.browser}}</b>
        {{#isThisOne}}
        <span class="tag good">[[tagThisOne]]</span>
        {{/isThisOne}}
        {{#isByCode}}
        <span class="tag bad">[[tagDeviceCode]]</span>
        {{/isByCode}}
        <span class="small">{{#.place}}<bdi>{{place}}</bdi>. {{/.place}}{{#isByDevice}}[[sinceWithDevice]]\
        {{/isByDevice}}{{#isByEmail}}[[sinceByEmail]]{{/isByEmail}}{{#isByText}}[[sinceByText]]{{/isByText}}\
        {{#isByPasskey}}{{#.name}}[[sinceWithPasskey]]{{/.name}}{{^.name}}[[sinceWithLostPasskey]]{{/.name}}\
        {{/isByPasskey}}{{#isByCode}}[[sinceForClient]]{{/isByCode}}{{#isByServer}}[[sinceForClient]]{{/isByServer}}\
        {{#isByUnknown}}[[sinceOnly]]{{/isByUnknown}}\
        {{#.lastSeen}}. [[lastSeen]]{{/.lastSeen}}</span>
        </div>
        {{^isThisOne}}
        <button class="link" form="other" formaction="/account/sessions/{{id}}/end" \
        aria-label="{{#.browser}}[[endSession|plain]]{{/.browser}}{{^.browser}}[[endUnknownSession|plain]]\
        {{/.browser}}">[[end]]</button>
        {{/isThisOne}}
        </li>
        {{/sessions}}
        </ul>
        {{/hasSessions}}
        {{^hasSessions}}
        <p class="soft">[[noneYet]]</p>
        {{/hasSessions}}
        {{#hasOthers}}
        <p class="acts"><button class="outlined" form="other" formaction="/account/sessions/end-others">\
        [[endAllOthers]]</button></p>
        {{/hasOthers}}
        """
}
