import CountersignWire
import Encodings

/// The limits on attempts that are counted in rows of the database, so they hold for all nodes together.
///
/// Limits that follow from challenges, such as how many may be open, are in ``AskChallenge``.
enum AttemptLimit: Hashable, Sendable {
    /// The kinds of input from a device whose refusals are counted.
    enum Input: String, Sendable { case answer, claim, custom, change, registration }

    /// Wrong credentials that name one client, whether the client exists or not.
    ///
    /// Spec: RFC 6749 §2.3.1, OWASP ASVS 6.3.1.
    case wrongCredentials(of: String)
    /// Wrong credentials from one address.
    case wrongCredentialsFrom([UInt8])
    /// Wrong credentials of the clients and addresses that a node no longer counts one by one.
    case otherWrongCredentials(maximum: Int)
    /// Inputs of a device that were refused.
    ///
    /// Spec: docs/protocol/challenges.md, *Checks*.
    case refused(Input, EnrollmentID)
    /// Wrong return codes of an approval by a link; each code has 128 bits.
    ///
    /// Spec: docs/security/threat-model.md, *Guessing*.
    case wrongReturnCodes(ChallengeID)
    /// Wrong answers to a challenge, during its whole life; its type sets the maximum.
    case wrongAnswers(ChallengeID, maximum: Int)
    /// Typed codes of a challenge, right or wrong; its type sets the maximum.
    case typedTextCodes(ChallengeID, maximum: Int)
    /// Wrong codes in a row, over all challenges of a client and a user; beyond the limit no more codes are sent.
    ///
    /// Spec: NIST SP 800-63B-4 §3.2.2.
    case wrongTextCodes(ClientID, UserID?)
    /// Codes sent to one telephone number, by its hash, for all clients together.
    case textCodes(to: String)
    /// Codes that one client has sent, to all numbers together.
    case textCodesOf(ClientID, maximum: Int)
    /// Challenges by a code of one client: they have no user yet, so no user's limit counts them.
    case codeAsks(ClientID, maximum: Int)
    /// Tokens of captchas that one client brings, which a provider is asked about.
    case captchas(ClientID)
    /// Resends of a challenge, during its whole life; its type sets the maximum.
    case resends(ChallengeID, maximum: Int)
    /// Challenges that ask whether a further device belongs to the user, by one client.
    ///
    /// Spec: docs/decisions/0046-approval-of-devices.md.
    case newDeviceAsks(UserID, ClientID)
    /// Sign-ins by which one user's devices are asked, at one third party or over all first parties; from the user's own
    /// browsers, or from all others together.
    ///
    /// Spec: NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4.
    case signInAsks(UserID, at: ClientID?, isBrowserKnown: Bool)
    /// Reports of sign-ins; for a day after one, no unknown browser has the user's devices asked.
    ///
    /// Spec: docs/decisions/0072-signing-in.md.
    case reportedSignIns(UserID, at: ClientID?)
    /// Sign-ins that one network starts, whoever they name.
    case signInsFrom([UInt8])
    /// Sign-ins at one client by a code: they have no user yet, so no user's limit counts them.
    case signInCodes(ClientID, maximum: Int)
    /// Codes of sign-ins sent to one address, by its hash, whether it is anybody's or not, for all clients together;
    /// asked for in the browsers of its user, or in all others.
    case signInMessages(to: String, inOwnBrowser: Bool)
    /// Mails with codes of sign-ins at one client.
    case signInMailsOf(ClientID, maximum: Int)
    /// Text messages with codes of sign-ins at one client to numbers with one calling code.
    case signInTextsOf(ClientID, prefix: String)
    /// Tries to type one code of a sign-in.
    case typedSignInCodes(VerificationID)
    /// Wrong codes of sign-ins in a row for one address, by its hash, typed in the browsers of its user, or in all
    /// others; beyond the limit no more codes are sent.
    ///
    /// Spec: NIST SP 800-63B-4 §3.2.2.
    case wrongSignInCodes(for: String, inOwnBrowser: Bool)
    /// Tries of one user to type a code that adds one address, by its hash, right or wrong.
    case addressCodeTries(of: UserID, for: String)
    /// Sign-ins by which somebody is reached, in browsers that are not theirs, over all clients; beyond the limit, the
    /// next ones need work.
    case strangersSignIns(maximum: Int)
    /// How often there were too many of them; it sets how hard the work is.
    case workSteps
    /// Uses of one solved puzzle, by its hash, while it is good.
    case solvedWork(String, lifetime: Seconds)
    /// Sign-ins for which one network has waited in the place of work.
    case waitsForWorkFrom([UInt8])
    /// Sign-ins for which anybody has waited in the place of work.
    case waitsForWork(maximum: Int)
    /// Sign-ins that one client begins for devices: they have no user yet, so no user's limit counts them.
    case deviceGrants(of: ClientID, maximum: Int)
    /// Sign-ins that one client's server begins: they have no user yet, so no user's limit counts them.
    case backchannelRequests(of: ClientID, maximum: Int)
    /// Sign-ins by which clients' servers have one user's devices asked since the last approval, at one third party or
    /// over all first parties.
    ///
    /// Spec: NIST SP 800-63B-4 §3.1.3.2, OWASP ASVS 6.6.4.
    case backchannelAsks(UserID, at: ClientID?)
    /// The same in a day, whatever was answered: who taps a yes to be left alone does not let another one ask on.
    case backchannelAsksInADay(UserID, at: ClientID?)
    /// Wrong codes in a row that clients' servers have brought to have one user's devices asked, at one third party or
    /// over all first parties.
    ///
    /// Spec: CIBA Core 1.0 §7.1.
    case wrongAskingCodes(of: UserID, at: ClientID?)
    /// Wrong codes of devices that were typed in one browser, by its hash.
    ///
    /// Spec: RFC 8628 §5.1.
    case wrongUserCodesIn(String)
    /// Wrong codes of devices from one network.
    case wrongUserCodesFrom([UInt8])
    /// Wrong codes of devices that one user has typed.
    case wrongUserCodes(of: UserID)
    /// Wrong codes of devices, by anybody: each could be any device's.
    case allWrongUserCodes
    /// Wrong numbers of events from one network: each could be any app's.
    case wrongEventsFrom([UInt8])
    /// Events that name one user, by a hash of the name, whether there is such a user or not; beyond the limit nobody
    /// finds them by the name.
    case eventsNaming(String)
    /// Changes of the language of one sign-in's pages.
    case pageLanguages(AuthorizationID)
    /// Codes for clients that one session gives.
    case codesOf(SessionID)
    /// Authorization requests that one client pushes, which authenticates.
    ///
    /// Spec: RFC 9126 §2.3.
    case pushedRequests(ClientID)
    /// Authorization requests that one network pushes, for clients that do not authenticate.
    case pushedRequestsFrom([UInt8])
    /// Sign-ins of a device by its own signature.
    case ownSignIns(EnrollmentID)
    /// Passkeys that one user registers; all addresses and clients are told of each.
    case passkeys(of: UserID)
    /// Text messages that tell one user what was done on the account page.
    case noticeTexts(to: UserID)
    /// Sign-ins of which one user is told, since they may be somebody else's.
    ///
    /// Spec: OWASP ASVS 6.3.5.
    case signInNotices(to: UserID)
    /// Sign-ins by the device grant of which one user is told.
    case deviceGrantNotices(to: UserID)
    /// Codes that one user has sent to addresses that they add.
    case addressCodes(of: UserID)
    /// Test messages to one address, by its hash.
    case testMessages(to: String)

    /// The key of the row in the database.
    var key: String {
        switch self {
        case .wrongCredentials(let client): "wrong client \(client)"
        case .wrongCredentialsFrom(let address): "wrong from \(Hex.encode(address))"
        case .otherWrongCredentials(let maximum): "wrong others of \(maximum)"
        case .refused(let input, let enrollment): "\(input.rawValue) \(enrollment)"
        case .wrongReturnCodes(let challenge): "return \(challenge)"
        case .wrongAnswers(let challenge, _): "answers \(challenge)"
        case .typedTextCodes(let challenge, _): "text code \(challenge)"
        case .wrongTextCodes(let client, let user): "wrong text codes \(client) \(user.map { "\($0)" } ?? "-")"
        case .textCodes(let number): "text code \(number)"
        case .textCodesOf(let client, _): "text codes \(client)"
        case .codeAsks(let client, _): "code asks \(client)"
        case .captchas(let client): "captchas \(client)"
        case .resends(let challenge, _): "resend \(challenge)"
        case .newDeviceAsks(let user, let client): "new device \(user) \(client)"
        case .signInAsks(let user, let client, let isBrowserKnown):
            "sign-in \(isBrowserKnown ? "known" : "unknown") \(user)\(client.map { " \($0)" } ?? "")"
        case .reportedSignIns(let user, let client): "sign-in reported \(user)\(client.map { " \($0)" } ?? "")"
        case .signInsFrom(let network): "sign-ins from \(Hex.encode(network))"
        case .signInCodes(let client, _): "sign-in codes \(client)"
        case .signInMessages(let address, let isOwn): "sign-in code to \(address)\(isOwn ? " own" : "")"
        case .signInMailsOf(let client, _): "sign-in mails \(client)"
        case .signInTextsOf(let client, let prefix): "sign-in texts \(client) \(prefix)"
        case .typedSignInCodes(let verification): "sign-in code \(verification)"
        case .wrongSignInCodes(let address, let isOwn): "wrong sign-in codes \(address)\(isOwn ? " own" : "")"
        case .addressCodeTries(let user, let address): "address code tries \(user) \(address)"
        case .strangersSignIns: "strangers' sign-ins"
        case .workSteps: "work"
        case .solvedWork(let puzzle, _): "work \(puzzle)"
        case .waitsForWorkFrom(let network): "waits from \(Hex.encode(network))"
        case .waitsForWork: "waits"
        case .deviceGrants(let client, _): "device grants \(client)"
        case .backchannelRequests(let client, _): "backchannel requests \(client)"
        case .backchannelAsks(let user, let client): "backchannel \(user)\(client.map { " \($0)" } ?? "")"
        case .backchannelAsksInADay(let user, let client):
            "backchannel in a day \(user)\(client.map { " \($0)" } ?? "")"
        case .wrongAskingCodes(let user, let client): "wrong asking codes \(user)\(client.map { " \($0)" } ?? "")"
        case .wrongUserCodesIn(let browser): "wrong user codes in \(browser)"
        case .wrongUserCodesFrom(let network): "wrong user codes from \(Hex.encode(network))"
        case .wrongUserCodes(let user): "wrong user codes \(user)"
        case .allWrongUserCodes: "wrong user codes"
        case .wrongEventsFrom(let network): "wrong events from \(Hex.encode(network))"
        case .eventsNaming(let name): "events naming \(name)"
        case .pageLanguages(let signIn): "languages of \(signIn)"
        case .codesOf(let session): "codes of \(session)"
        case .pushedRequests(let client): "pushed by \(client)"
        case .pushedRequestsFrom(let network): "pushed from \(Hex.encode(network))"
        case .ownSignIns(let enrollment): "sign-ins of \(enrollment)"
        case .passkeys(let user): "passkeys of \(user)"
        case .noticeTexts(let user): "notices by text to \(user)"
        case .signInNotices(let user): "sign-ins told to \(user)"
        case .deviceGrantNotices(let user): "device sign-ins told to \(user)"
        case .addressCodes(let user): "address codes of \(user)"
        case .testMessages(let address): "test message \(address)"
        }
    }

    /// How long attempts count from the first of them.
    var window: Seconds {
        switch self {
        case .wrongCredentials, .wrongCredentialsFrom, .otherWrongCredentials, .refused, .wrongReturnCodes, .codeAsks,
            .captchas, .signInsFrom, .signInCodes, .strangersSignIns, .waitsForWork, .codesOf, .pushedRequests,
            .pushedRequestsFrom, .ownSignIns, .deviceGrants, .backchannelRequests:
            .minutes(1)
        // As long as a device's code is good.
        case .workSteps, .wrongUserCodesIn, .wrongUserCodesFrom, .allWrongUserCodes, .wrongEventsFrom: .minutes(10)
        case .solvedWork(_, let lifetime): lifetime
        case .textCodes, .textCodesOf, .newDeviceAsks, .signInAsks, .testMessages, .passkeys, .addressCodes,
            .waitsForWorkFrom, .eventsNaming, .pageLanguages, .noticeTexts, .wrongUserCodes, .signInMessages,
            .signInMailsOf, .signInTextsOf, .backchannelAsks:
            .hours(1)
        // A code is good for minutes. But a node whose clock is ahead would take an hour for over.
        case .typedTextCodes, .typedSignInCodes: .days(1)
        case .wrongAnswers, .resends, .reportedSignIns, .signInNotices, .deviceGrantNotices, .wrongAskingCodes,
            .backchannelAsksInADay:
            .days(1)
        case .wrongTextCodes, .wrongSignInCodes, .addressCodeTries: .days(30)
        }
    }

    /// How many attempts are allowed within the window.
    var maximum: Int {
        switch self {
        case .wrongCredentials: 20
        case .wrongCredentialsFrom, .wrongTextCodes: 100
        // Together a hundred.
        case .wrongSignInCodes(_, let isOwn): isOwn ? 20 : 80
        case .addressCodeTries: 20
        case .refused, .wrongReturnCodes, .testMessages, .addressCodes, .noticeTexts, .signInNotices,
            .deviceGrantNotices, .wrongAskingCodes,
            .signInAsks(_, _, isBrowserKnown: true), .backchannelAsks:
            10
        // As many as the person is asked at most: nobody could approve another one.
        case .signInAsks(_, _, isBrowserKnown: false), .eventsNaming: 3
        case .backchannelAsksInADay: 30
        case .signInsFrom, .codesOf, .ownSignIns: 60
        case .pushedRequests: 6000
        case .pushedRequestsFrom: 600
        case .passkeys, .pageLanguages, .wrongEventsFrom: 20
        case .captchas: 600
        case .workSteps: 3
        case .solvedWork, .reportedSignIns: 1
        case .waitsForWorkFrom, .wrongUserCodesFrom, .wrongUserCodes: 10
        case .textCodes, .newDeviceAsks, .signInMessages, .wrongUserCodesIn: 5
        case .allWrongUserCodes: 1000
        case .typedSignInCodes: Verification.maximumTries
        case .signInTextsOf: 200
        case .otherWrongCredentials(let maximum), .wrongAnswers(_, let maximum), .typedTextCodes(_, let maximum),
            .textCodesOf(_, let maximum), .codeAsks(_, let maximum), .signInCodes(_, let maximum),
            .resends(_, let maximum), .signInMailsOf(_, let maximum), .strangersSignIns(let maximum),
            .waitsForWork(let maximum), .deviceGrants(_, let maximum), .backchannelRequests(_, let maximum):
            maximum
        }
    }
}

/// The number of attempts so far, including the latest.
struct CountedAttempts: Sendable {
    let limit: AttemptLimit
    let count: AttemptCount

    var number: Int { count.number }

    /// Whether there were more attempts than allowed.
    var isExceeded: Bool { number > limit.maximum }

    /// Whether no further attempt is allowed.
    var isUsedUp: Bool { number >= limit.maximum }

    /// How many attempts are left.
    var left: Int { max(0, limit.maximum - number) }

    /// After how long to try again: at least a second, and no more than the window, even if a clock was set back
    /// since it began.
    func retryAfter(at now: Timestamp) -> Seconds {
        min(limit.window, max(1, count.windowEnd - now))
    }
}

extension Stores {
    /// The number of attempts so far.
    func counted(_ limit: AttemptLimit, at now: Timestamp) throws -> CountedAttempts {
        let none = AttemptCount(number: 0, windowEnd: now)
        return CountedAttempts(limit: limit, count: try attempts.find(limit.key, at: now) ?? none)
    }
}

extension UnitOfWork {
    /// Counts an attempt.
    ///
    /// Call this before checking the attempt, so that concurrent attempts cannot exceed the limit.
    func count(_ limit: AttemptLimit) throws -> CountedAttempts {
        CountedAttempts(limit: limit, count: try attempts.count(limit.key, window: limit.window, at: now))
    }

    /// The number of attempts so far.
    func counted(_ limit: AttemptLimit) throws -> CountedAttempts { try stores.counted(limit, at: now) }

    func forget(_ limit: AttemptLimit) throws { try attempts.forget(limit.key) }

    /// Counts an input of a device that is refused.
    ///
    /// - Returns: after how long to try again if there were too many; nil otherwise.
    func countRefused(_ input: AttemptLimit.Input, of enrollment: EnrollmentID) throws -> Seconds? {
        let refused = try count(.refused(input, enrollment))
        return refused.isExceeded ? refused.retryAfter(at: now) : nil
    }
}
