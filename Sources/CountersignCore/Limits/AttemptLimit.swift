import CountersignWire
import Encodings

/// How often something may be tried before it is refused: every limit that is counted in rows, for all nodes together.
///
/// Limits that follow from challenges, such as how many may be open, stand with ``AskChallenge``.
enum AttemptLimit: Hashable, Sendable {
    /// What a device sends and is refused.
    enum Input: String, Sendable { case answer, claim, custom, change, registration }

    /// Wrong credentials that name one client, whether or not there is such a client.
    ///
    /// Spec: RFC 6749 §2.3.1, OWASP ASVS 6.3.1.
    case wrongCredentials(of: String)
    /// Wrong credentials from one address.
    case wrongCredentialsFrom([UInt8])
    /// Wrong credentials of those whom a node counts no more each for itself.
    case otherWrongCredentials(maximum: Int)
    /// What a device sent and was refused.
    ///
    /// Spec: design 3.8.
    case refused(Input, EnrollmentID)
    /// Wrong codes that were brought back from a link; each has 128 bits.
    ///
    /// Spec: design 3.7.
    case wrongReturnCodes(ChallengeID)
    /// How often a challenge may be answered wrongly, as its type says, for as long as it can live.
    case wrongAnswers(ChallengeID, maximum: Int)
    /// How often the code of a challenge may be typed, right or wrong, as its type says.
    case typedTextCodes(ChallengeID, maximum: Int)
    /// Wrong codes in a row, over all challenges of a client and a user, before no more are sent.
    ///
    /// Spec: NIST SP 800-63B-4 §3.2.2.
    case wrongTextCodes(ClientID, UserID?)
    /// Codes to one telephone number, by its hash, whoever asks.
    case textCodes(to: String)
    /// Codes that one client has sent, to whatever numbers.
    case textCodesOf(ClientID, maximum: Int)
    /// Questions by a code of one client: those are nobody's, and no user's limit counts them.
    case codeAsks(ClientID, maximum: Int)
    /// Resends of a challenge, as its type says, for as long as it can live.
    case resends(ChallengeID, maximum: Int)
    /// Questions whether a user has one more device, by one client.
    ///
    /// Spec: design 13 §1.6.
    case newDeviceAsks(UserID, ClientID)
    /// Test messages to one address, by its hash.
    case testMessages(to: String)

    /// What is counted; it stands in the database.
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
        case .resends(let challenge, _): "resend \(challenge)"
        case .newDeviceAsks(let user, let client): "new device \(user) \(client)"
        case .testMessages(let address): "test message \(address)"
        }
    }

    /// For how long attempts count from the first of them, in seconds.
    var window: Int64 {
        switch self {
        case .wrongCredentials, .wrongCredentialsFrom, .otherWrongCredentials, .refused, .wrongReturnCodes, .codeAsks:
            60
        case .typedTextCodes, .textCodes, .textCodesOf, .newDeviceAsks, .testMessages: 3600
        case .wrongAnswers, .resends: 86_400
        case .wrongTextCodes: 30 * 86_400
        }
    }

    /// How many there may be within the window.
    var maximum: Int {
        switch self {
        case .wrongCredentials: 20
        case .wrongCredentialsFrom, .wrongTextCodes: 100
        case .refused, .wrongReturnCodes, .testMessages: 10
        case .textCodes, .newDeviceAsks: 5
        case .otherWrongCredentials(let maximum), .wrongAnswers(_, let maximum), .typedTextCodes(_, let maximum),
            .textCodesOf(_, let maximum), .codeAsks(_, let maximum), .resends(_, let maximum):
            maximum
        }
    }
}

/// How many attempts there were, the latest included.
struct CountedAttempts: Sendable {
    let limit: AttemptLimit
    let count: AttemptCount

    var number: Int { count.number }

    /// Whether there were more than there may be.
    var isExceeded: Bool { number > limit.maximum }

    /// Whether there may be no more.
    var isUsedUp: Bool { number >= limit.maximum }

    /// How many there may be yet.
    var left: Int { max(0, limit.maximum - number) }

    /// After how many seconds to come again: at least one, and no longer than the window, also where a clock was set
    /// back since it began.
    func retryAfter(at now: Timestamp) -> Int64 {
        min(limit.window, max(1, (count.windowEnd.milliseconds - now.milliseconds + 999) / 1000))
    }
}

extension UnitOfWork {
    /// Counts one attempt more: before it is looked at, so that many at once are no more than the limit.
    func count(_ limit: AttemptLimit) throws -> CountedAttempts {
        CountedAttempts(limit: limit, count: try attempts.count(limit.key, window: limit.window, at: now))
    }

    /// What was counted until now.
    func counted(_ limit: AttemptLimit) throws -> CountedAttempts {
        let none = AttemptCount(number: 0, windowEnd: now)
        return CountedAttempts(limit: limit, count: try attempts.find(limit.key, at: now) ?? none)
    }

    func forget(_ limit: AttemptLimit) throws { try attempts.forget(limit.key) }

    /// Counts something that a device sent and that is refused.
    ///
    /// - Returns: after how many seconds to come again where there were too many; nil where there were not.
    func countRefused(_ input: AttemptLimit.Input, of enrollment: EnrollmentID) throws -> Int64? {
        let refused = try count(.refused(input, enrollment))
        return refused.isExceeded ? refused.retryAfter(at: now) : nil
    }
}
