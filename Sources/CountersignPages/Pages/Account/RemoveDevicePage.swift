/// The page that asks whether to remove a device, and says what follows.
///
/// It posts to `remove` or to `suspend`, below `/account/devices/ID`.
package struct RemoveDevicePage: HostedPage {
    /// What can be taken from the device.
    package enum State: Hashable, Sendable {
        /// It can approve.
        case active
        /// It cannot approve yet, so that its enrollment is undone.
        case waiting
        /// It cannot approve as long as it is suspended.
        case suspended
    }

    /// What is left without the only device that can approve today.
    package struct Remaining: Hashable, Sendable {
        /// How one signs in without a device.
        package enum Way: Hashable, Sendable {
            /// With a passkey.
            case passkey
            /// With a code or a link by email.
            case email
            /// With a code by text message.
            case text
            /// Not at all.
            case none
        }

        /// The name of the device that can approve next; nil where none waits.
        package var nextDevice: String?
        /// How one signs in until then.
        package var way: Way

        /// Creates what is left.
        package init(nextDevice: String?, way: Way) {
            self.nextDevice = nextDevice
            self.way = way
        }
    }

    /// The name in paths.
    package var id: String
    /// The model.
    package var name: String
    /// When it was enrolled, in seconds since 1970.
    package var enrolledAt: Int
    /// The name of the client with which it was enrolled.
    package var client: String
    /// When it last approved anything, in seconds since 1970; nil for no such row.
    package var lastUsedAt: Int?
    /// Where that was, in the page's language; nil where it is unknown.
    package var lastUsedPlace: String?
    /// What can be taken from it.
    package var state: State
    /// Whether this session ends with it.
    package var endsThisSession: Bool
    /// What is left, where it is the only device that can approve today; nil where it is not.
    package var remaining: Remaining?
    /// Whether the account page shows passkeys.
    package var showsPasskeys: Bool

    /// Creates the page.
    package init(
        id: String, name: String, enrolledAt: Int, client: String, lastUsedAt: Int? = nil,
        lastUsedPlace: String? = nil, state: State = .active, endsThisSession: Bool = false,
        remaining: Remaining? = nil, showsPasskeys: Bool = false
    ) {
        self.id = id
        self.name = name
        self.enrolledAt = enrolledAt
        self.client = client
        self.lastUsedAt = lastUsedAt
        self.lastUsedPlace = lastUsedPlace
        self.state = state
        self.endsThisSession = endsThisSession
        self.remaining = remaining
        self.showsPasskeys = showsPasskeys
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "id": PageAddress.segment(id), "device": name, "client": client,
            "day": frame.day(enrolledAt, as: .start),
            "lastUsed": lastUsedAt.map { frame.moment($0, as: .start) }, "lastPlace": lastUsedPlace,
            "isWaiting": state == .waiting, "isSuspended": state == .suspended, "isActive": state == .active,
            "endsThisSession": endsThisSession, "showsPasskeys": showsPasskeys,
            "remaining": state == .active ? remaining.map(Self.values) : nil,
        ])
    }

    private static func values(of remaining: Remaining) -> [String: Any] {
        Dictionary(present: [
            "other": remaining.nextDevice, "hasNext": remaining.nextDevice != nil,
            "isByPasskey": remaining.way == .passkey, "isByEmail": remaining.way == .email,
            "isByText": remaining.way == .text, "isByNothing": remaining.way == .none,
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "remove-device", panel: .account(at: .devices),
        heading: "{{#isWaiting}}[[undoHeading]]{{/isWaiting}}{{^isWaiting}}[[removeHeading]]{{/isWaiting}}",
        main: """
            <dl class="facts">
            <div><dt>[[factEnrolled]]</dt><dd><b>[[enrolledFact]]</b></dd></div>
            {{#lastUsed}}
            <div><dt>[[factLastUsed]]</dt><dd><b>{{lastUsed}}{{#lastPlace}}, <bdi>{{lastPlace}}</bdi>{{/lastPlace}}\
            </b></dd></div>
            {{/lastUsed}}
            {{#endsThisSession}}
            <div><dt>[[factEnds]]</dt><dd><b>[[thisSession]]</b></dd></div>
            {{/endsThisSession}}
            </dl>
            <p>{{#isActive}}[[removeText]]{{/isActive}}{{#isWaiting}}[[undoText]]{{/isWaiting}}\
            {{#isSuspended}}[[removeSuspendedText]]{{/isSuspended}}</p>
            {{#remaining}}
            <p><strong>[[onlyDevice]]</strong> \(rest)</p>
            {{/remaining}}
            <form method="post" action="/account/devices/{{id}}/remove">\(PageFrame.sealedRequest)
            <p class="acts">
            <button class="filled danger">{{#isWaiting}}[[undoDevice]]{{/isWaiting}}\
            {{^isWaiting}}[[removeDevice]]{{/isWaiting}}</button>
            <a class="outlined" href="/account">[[keepIt]]</a>
            </p>
            </form>
            {{#isActive}}
            <p class="acts"><button class="link" form="other" formaction="/account/devices/{{id}}/suspend">\
            [[suspendInstead]]</button></p>
            {{/isActive}}
            """)

    private static let rest = """
        {{#hasNext}}{{#isByPasskey}}[[nextByPasskey]]{{/isByPasskey}}\
        {{#isByEmail}}[[nextByEmail]]{{/isByEmail}}{{#isByText}}[[nextByText]]{{/isByText}}\
        {{#isByNothing}}[[nextByNothing]]{{/isByNothing}}{{/hasNext}}{{^hasNext}}\
        {{#isByPasskey}}[[restByPasskey]]{{/isByPasskey}}{{#isByEmail}}[[restByEmail]]\
        {{/isByEmail}}{{#isByText}}[[restByText]]{{/isByText}}{{#isByNothing}}[[restByNothing]]{{/isByNothing}}\
        {{/hasNext}}
        """
}
