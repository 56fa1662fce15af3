package import CountersignWire

/// Somebody's wish to be signed in at a client, from the first ask to the tokens.
package struct Authorization: Equatable, Sendable {
    /// How long it can be completed.
    package static let lifetime = Seconds.minutes(30)
    /// How long it is kept after that.
    package static let keptFor = Seconds.days(1)

    /// Its id.
    package let id: AuthorizationID
    /// What the client wants.
    package let wanted: Wanted
    /// The keyed hash of the browser's cookie: no other browser may see or continue it.
    package let browser: KeyedHash
    /// The user; nil until somebody is known, and for a user there is none of.
    package let user: UserID?
    /// The latest ask; nil before the first one.
    package let ask: Ask?
    /// Its state.
    package let state: AuthorizationState
    /// When it can be completed no more.
    package let expiresAt: Timestamp

    /// The client.
    package var client: ClientID { wanted.client }

    /// An authorization of these parts.
    package init(
        id: AuthorizationID, wanted: Wanted, browser: KeyedHash, user: UserID?, ask: Ask?, state: AuthorizationState,
        expiresAt: Timestamp
    ) {
        self.id = id
        self.wanted = wanted
        self.browser = browser
        self.user = user
        self.ask = ask
        self.state = state
        self.expiresAt = expiresAt
    }

    /// An ask for a proof of who it is, as the page shows it.
    ///
    /// It looks the same whether there is a user or not.
    package struct Ask: Equatable, Sendable {
        /// What the page shows.
        package enum Shown: Equatable, Sendable {
            /// A number, which is typed on a device of the user.
            case number(EntryNumber)
            /// A code, which any device of a user of the client scans.
            case code
            /// A field for the code that was sent to an address.
            case field(Verification)
        }

        /// What the page shows.
        package let shown: Shown
        /// The number, if the page shows one.
        package var number: EntryNumber? { if case .number(let number) = shown { number } else { nil } }
        /// When the ask ends unanswered.
        package let until: Timestamp
        /// The challenge, which there is only where somebody is asked; nil where a code is sent.
        package let challenge: ChallengeID?
        /// The code that was sent; nil where devices are asked.
        package var verification: Verification? { if case .field(let sent) = shown { sent } else { nil } }
        /// When the page began to ask so.
        var askedAt: Timestamp? { challenge?.time ?? verification?.id.time }
        /// Whether the browser is one of the user's, which alone learns of a denial.
        package let isBrowserKnown: Bool
        /// Whether the devices were asked in vain: the user declined, or the ask failed.
        package let isDeclined: Bool

        /// An ask of these parts.
        package init(
            _ shown: Shown, until: Timestamp, challenge: ChallengeID?, isBrowserKnown: Bool, isDeclined: Bool = false
        ) {
            self.shown = shown
            self.until = until
            self.challenge = challenge
            self.isBrowserKnown = isBrowserKnown
            self.isDeclined = isDeclined
        }
    }
}

/// How far an authorization has come.
///
/// One conditional update in the database decides each step, whatever else happens at the same time.
package enum AuthorizationState: Equatable, Sendable {
    /// Nobody is authenticated; devices may be asked, or a code may be sent.
    case open
    /// The user is authenticated, and the client has nothing yet.
    case authenticated(Authentication)
    /// The person cancelled it.
    case refused
    /// The client has a code.
    case granted(Authentication)
    /// The client has its tokens.
    case redeemed(Authentication, TokenFamilyID)

    /// The name of the state in rows.
    package var name: String {
        switch self {
        case .open: "open"
        case .authenticated: "authenticated"
        case .refused: "refused"
        case .granted: "granted"
        case .redeemed: "redeemed"
        }
    }

    /// The authentication; nil while there is none.
    package var authentication: Authentication? {
        switch self {
        case .open, .refused: nil
        case .authenticated(let authentication), .granted(let authentication), .redeemed(let authentication, _):
            authentication
        }
    }
}
