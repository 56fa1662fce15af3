/// The page with what an account has, and how one ends it.
///
/// Buttons post to paths below ``path``, each with the sealed request:
///
/// - `devices/ID/confirm`, `devices/ID/resume`, `devices/ID/methods/METHOD/undo`
/// - `sessions/ID/end`, `sessions/end-others`
/// - `access/CLIENT/end`
///
/// What takes a device away is a link to `devices/ID/remove`: see ``RemoveDevicePage``. A passkey is changed below
/// `passkeys/ID`: see ``PasskeyPage``. An address is removed below `addresses/ID`: see ``AddressPage``; one is added at
/// ``newAddressPath``: see ``AddAddressPage``. The request code is set and removed at ``UserCodePage/path``.
package struct AccountPage: HostedPage {
    /// The path of the page.
    package static let path = "/account"
    /// The path of the page that adds an address or number.
    package static let newAddressPath = "/account/new-address"

    /// What was just done: the page begins with it.
    package enum Announcement: Hashable, Sendable {
        /// A device with this name was removed.
        case removed(String)
        /// A device with this name was suspended.
        case suspended(String)
        /// A device with this name was resumed.
        case resumed(String)
        /// A method that waited on the device of this name was undone.
        case methodUndone(String)
        /// A device with this name was confirmed.
        case confirmed(String)
        /// A device with this name counts everywhere from a time on, in seconds since 1970, unless somebody objects.
        case confirmedLater(String, from: Int)
        /// What was asked for needs a sign-in with a confirmed device or a passkey.
        case signInTooWeak
        /// What was to be changed is not there any more, or cannot be changed now.
        case gone
        /// A passkey with this name was created.
        case passkeyCreated(String)
        /// A passkey with this name was created, and counts from a time on, in seconds since 1970.
        case passkeyCreatedLater(String, from: Int)
        /// A passkey with this name was removed.
        case passkeyRemoved(String)
        /// A passkey has this name now.
        case passkeyRenamed(String)
        /// There are as many passkeys as there may be.
        case passkeysFull
        /// The browser's answer made no passkey.
        case passkeyNotCreated
        /// This address or number was verified.
        case addressAdded(String)
        /// This address or number was removed.
        case addressRemoved(String)
        /// This address or number is verified for another account.
        case addressTaken(String)
        /// The last address cannot be removed.
        case addressNeeded
        /// There are as many addresses as there may be.
        case addressesFull
        /// The address can be removed from a time on, in seconds since 1970, because what takes its place is too new.
        case addressTooNew(until: Int)
        /// The request code was set.
        case userCodeSet
        /// The request code was removed.
        case userCodeRemoved
        /// A session was ended.
        case sessionEnded
        /// Every session but this one was ended.
        case othersEnded
        /// The access of a client with this name was ended.
        case accessEnded(String)

        /// Whether it says why nothing was done.
        var isRefusal: Bool {
            switch self {
            case .signInTooWeak, .gone, .passkeysFull, .passkeyNotCreated, .addressTaken, .addressNeeded,
                .addressesFull, .addressTooNew:
                true
            case .removed, .suspended, .resumed, .methodUndone, .confirmed, .confirmedLater, .passkeyCreated,
                .passkeyCreatedLater, .passkeyRemoved, .passkeyRenamed, .addressAdded, .addressRemoved,
                .userCodeSet, .userCodeRemoved, .sessionEnded, .othersEnded, .accessEnded:
                false
            }
        }
    }

    /// Whether one may say here that a device is one's own.
    package enum Confirming: Hashable, Sendable {
        /// One may, in this session.
        case here
        /// One has to sign in first, with the confirmed device of this name; nil where there are several or none.
        case afterSignIn(with: String?)
    }

    /// What was just done, if anything.
    package var announcement: Announcement?
    /// The addresses and numbers.
    package var identifiers: [Identifier]
    /// Where "Add an address or number" leads; nil for no such button.
    package var addPath: String?
    /// The devices that are not removed.
    package var devices: [Device]
    /// Whether one may say here that a device is one's own.
    package var confirming: Confirming
    /// The passkeys.
    package var passkeys: [Passkey]
    /// Where "Create a passkey" leads; nil for no such button.
    package var createPasskeyPath: String?
    /// Whether a request code is set; nil where none is of use.
    package var hasUserCode: Bool?
    /// The sessions, this one among them.
    package var sessions: [Session]
    /// What clients have access to.
    package var access: [Access]
    /// What happened, the latest first.
    package var activity: [Activity]
    /// Where "Earlier activity" leads; nil for no such link.
    package var earlierPath: String?
    /// The reports of sign-ins by which only browsers that the person has used can ask now.
    package var reports: [Report]

    /// Creates the page.
    package init(
        announcement: Announcement? = nil, identifiers: [Identifier] = [], addPath: String? = nil,
        devices: [Device] = [], confirming: Confirming = .here, passkeys: [Passkey] = [],
        createPasskeyPath: String? = nil, hasUserCode: Bool? = nil, sessions: [Session] = [],
        access: [Access] = [], activity: [Activity] = [], earlierPath: String? = nil, reports: [Report] = []
    ) {
        self.announcement = announcement
        self.identifiers = identifiers
        self.addPath = addPath
        self.devices = devices
        self.confirming = confirming
        self.passkeys = passkeys
        self.createPasskeyPath = createPasskeyPath
        self.hasUserCode = hasUserCode
        self.sessions = sessions
        self.access = access
        self.activity = activity
        self.earlierPath = earlierPath
        self.reports = reports
    }

    /// Whether something was not done.
    package var hasError: Bool { announcement?.isRefusal ?? false }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let said = announcement.map { Self.values(of: $0, in: frame) }
        let done = hasError ? nil : said
        let refusal = hasError ? said : nil
        return Dictionary(present: [
            "announcement": done, "refusal": refusal, "addPath": addPath, "earlierPath": earlierPath,
            "reports": reports.map { $0.values(in: frame) },
            "methodNotices": devices.flatMap { $0.methodNotices(in: frame) },
            "notices": devices.filter(\.needsAnAct).map { $0.notice(confirming, in: frame) },
            "identifiers": identifiers.map { $0.values(in: frame) }, "hasIdentifiers": !identifiers.isEmpty,
            "devices": devices.map { $0.values(in: frame) }, "hasDevices": !devices.isEmpty,
            "waitingPasskeys": passkeys.filter { $0.waitsUntil != nil }.map { $0.values(in: frame) },
            "passkeys": passkeys.map { $0.values(in: frame) }, "hasPasskeys": !passkeys.isEmpty,
            "passkey": createPasskeyPath.map { ["path": $0] },
            "showsPasskeys": !passkeys.isEmpty || createPasskeyPath != nil,
            "userCode": hasUserCode.map { ["isSet": $0] },
            "sessions": sessions.map { $0.values(in: frame) }, "hasSessions": !sessions.isEmpty,
            "hasOthers": sessions.contains { !$0.isThisOne },
            "access": access.map { $0.values(in: frame) }, "hasAccess": !access.isEmpty,
            "activity": activity.map { $0.values(in: frame) }, "hasActivity": !activity.isEmpty,
        ])
    }

    private static func values(of announcement: Announcement, in frame: PageFrame) -> [String: Any] {
        switch announcement {
        case .removed(let name): ["saysRemoved": true, "device": name]
        case .suspended(let name): ["saysSuspended": true, "device": name]
        case .resumed(let name): ["saysResumed": true, "device": name]
        case .methodUndone(let name): ["saysMethodUndone": true, "device": name]
        case .confirmed(let name): ["saysConfirmed": true, "device": name]
        case .confirmedLater(let name, let time):
            ["saysConfirmedLater": true, "device": name, "until": frame.moment(time)]
        case .signInTooWeak: ["saysTooWeak": true]
        case .gone: ["saysGone": true]
        case .passkeyCreated(let name): ["saysPasskeyCreated": true, "name": name]
        case .passkeyCreatedLater(let name, let time):
            ["saysPasskeyCreatedLater": true, "name": name, "until": frame.moment(time)]
        case .passkeyRemoved(let name): ["saysPasskeyRemoved": true, "name": name]
        case .passkeyRenamed(let name): ["saysPasskeyRenamed": true, "name": name]
        case .passkeysFull: ["saysPasskeysFull": true]
        case .passkeyNotCreated: ["saysPasskeyNotCreated": true]
        case .addressAdded(let address): ["saysAddressAdded": true, "address": address]
        case .addressRemoved(let address): ["saysAddressRemoved": true, "address": address]
        case .addressTaken(let address): ["saysAddressTaken": true, "address": address]
        case .addressNeeded: ["saysAddressNeeded": true]
        case .addressesFull: ["saysAddressesFull": true]
        case .addressTooNew(let time): ["saysAddressTooNew": true, "until": frame.moment(time)]
        case .userCodeSet: ["saysUserCodeSet": true]
        case .userCodeRemoved: ["saysUserCodeRemoved": true]
        case .sessionEnded: ["saysSessionEnded": true]
        case .othersEnded: ["saysOthersEnded": true]
        case .accessEnded(let name): ["saysAccessEnded": true, "client": name]
        }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "account", panel: .account(at: nil), heading: "[[accountHeading]]", scripts: [.passkey],
        announcement: said,
        main: [
            "{{#refusal}}\n\(PageFrame.refusing(said))\n{{/refusal}}", Report.notices, Device.notices,
            Device.methodNotices, Passkey.notices, Identifier.section, Device.section,
            UserCodePage.row, Passkey.section, Session.section, Access.section,
            Activity.section,
        ].joined(separator: "\n"))

    /// What was just done, or why nothing was, in words: `saysRemoved` is said as `sayRemoved`.
    private static let said = [
        "Removed", "Suspended", "Resumed", "MethodUndone", "Confirmed", "ConfirmedLater", "TooWeak", "Gone",
        "PasskeyCreated", "PasskeyCreatedLater", "PasskeyRemoved", "PasskeyRenamed", "PasskeysFull",
        "PasskeyNotCreated", "AddressAdded", "AddressRemoved", "AddressTaken", "AddressNeeded", "AddressesFull",
        "AddressTooNew", "UserCodeSet", "UserCodeRemoved", "SessionEnded", "OthersEnded", "AccessEnded",
    ].map { "{{#says\($0)}}[[say\($0)]]{{/says\($0)}}" }.joined()
}
