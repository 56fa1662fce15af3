extension AccountPage {
    /// Something that happened.
    package struct Activity: Hashable, Sendable {
        /// What happened.
        package enum Kind: Hashable, Sendable {
            /// One signed in to the client of this name.
            case signedIn(String)
            /// A request of the client of this name was approved.
            case approved(String)
            /// A request of the client of this name was declined.
            case declined(String)
            /// A request of the client of this name was reported.
            case reported(String)
            /// The device of this name was enrolled.
            case deviceEnrolled(String)
            /// The device of this name was removed.
            case deviceRemoved(String)
            /// The device of this name was suspended.
            case deviceSuspended(String)
            /// The device of this name was resumed.
            case deviceResumed(String)
            /// The device of this name was confirmed.
            case deviceConfirmed(String)
            /// One said that the device of this name is one's own; it is confirmed later.
            case deviceConfirming(String)
            /// The passkey of this name was created.
            case passkeyCreated(String)
            /// The passkey of this name was removed.
            case passkeyRemoved(String)
            /// The request code was set, or another one.
            case userCodeSet
            /// The request code was removed.
            case userCodeRemoved
            /// The PIN or the fingerprint of the device of this name was set or removed.
            case methodChanged(String)
            /// An email address was verified.
            case emailVerified
            /// A phone number was verified.
            case phoneVerified
            /// An email address was removed.
            case emailRemoved
            /// A phone number was removed.
            case phoneRemoved
            /// The client of this name was given access.
            case consentGiven(String)
            /// The access of the client of this name was ended.
            case accessEnded(String)
            /// A session was ended.
            case sessionEnded
        }

        /// What happened.
        package var kind: Kind
        /// When, in seconds since 1970.
        package var at: Int
        /// The browser from which it was done, in the page's language; nil where there is none or it is unknown.
        package var browser: String?
        /// The place, in the page's language; nil where it is unknown.
        package var place: String?
        /// The name of the device on which it was done; nil where there is none.
        package var device: String?

        /// Creates an activity.
        package init(_ kind: Kind, at: Int, browser: String? = nil, place: String? = nil, device: String? = nil) {
            self.kind = kind
            self.at = at
            self.browser = browser
            self.place = place
            self.device = device
        }
    }
}

extension AccountPage.Activity {
    func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "what": Self.values(of: kind), "at": frame.moment(at, as: .start), "browser": browser, "place": place,
            "device": device, "isReport": isReport,
        ])
    }

    private var isReport: Bool {
        if case .reported = kind { true } else { false }
    }

    private static func values(of kind: Kind) -> [String: Any] {
        switch kind {
        case .signedIn(let client): ["didSignIn": true, "client": client]
        case .approved(let client): ["didApprove": true, "client": client]
        case .declined(let client): ["didDecline": true, "client": client]
        case .reported(let client): ["didReport": true, "client": client]
        case .deviceEnrolled(let device): ["didEnroll": true, "device": device]
        case .deviceRemoved(let device): ["didRemove": true, "device": device]
        case .deviceSuspended(let device): ["didSuspend": true, "device": device]
        case .deviceResumed(let device): ["didResume": true, "device": device]
        case .deviceConfirmed(let device): ["didConfirm": true, "device": device]
        case .deviceConfirming(let device): ["didBeginConfirming": true, "device": device]
        case .passkeyCreated(let name): ["didCreatePasskey": true, "name": name]
        case .passkeyRemoved(let name): ["didRemovePasskey": true, "name": name]
        case .userCodeSet: ["didSetUserCode": true]
        case .userCodeRemoved: ["didRemoveUserCode": true]
        case .methodChanged(let device): ["didChangeMethod": true, "device": device]
        case .emailVerified: ["didVerifyEmail": true]
        case .phoneVerified: ["didVerifyPhone": true]
        case .emailRemoved: ["didRemoveEmail": true]
        case .phoneRemoved: ["didRemovePhone": true]
        case .consentGiven(let client): ["didGiveAccess": true, "client": client]
        case .accessEnded(let client): ["didEndAccess": true, "client": client]
        case .sessionEnded: ["didEndSession": true]
        }
    }

    /// What happened, in words: each is named by its value.
    private static let kinds = [
        "didSignIn", "didApprove", "didDecline", "didReport", "didEnroll", "didRemove", "didSuspend", "didResume",
        "didConfirm", "didBeginConfirming", "didCreatePasskey", "didRemovePasskey", "didChangeMethod",
        "didVerifyEmail", "didVerifyPhone", "didRemoveEmail", "didRemovePhone", "didGiveAccess", "didEndAccess",
        "didEndSession", "didSetUserCode", "didRemoveUserCode",
    ].map { "{{#\($0)}}[[\($0)]]{{/\($0)}}" }.joined()

    /// The rows of what happened.
    static let section = """
        <h2 id="activity">[[accountActivity]]</h2>
        {{#hasActivity}}
        <ul class="rows">
        {{#activity}}
        <li><div>
        <span{{#isReport}} class="bad"{{/isReport}}>{{#what}}\(kinds){{/what}}</span>
        <span class="small">{{at}}{{#.browser}}. <bdi>{{browser}}</bdi>{{/.browser}}\
        {{#.place}}. <bdi>{{place}}</bdi>{{/.place}}{{#.device}}. [[onDevice]]{{/.device}}</span>
        </div></li>
        {{/activity}}
        </ul>
        {{/hasActivity}}
        {{^hasActivity}}{{^earlierPath}}
        <p class="soft">[[nothingYet]]</p>
        {{/earlierPath}}{{/hasActivity}}
        {{#earlierPath}}
        <p class="acts"><a class="link" href="{{earlierPath}}">[[earlierActivity]]</a></p>
        {{/earlierPath}}
        """
}
