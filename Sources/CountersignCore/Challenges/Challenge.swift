public import CountersignWire
import Encodings

/// One question, to one user or to whoever presents its code first, with exactly one outcome.
///
/// A class, because it never changes, is large, and is handed on many times.
public final class Challenge: Sendable {
    /// What is asked, as every receipt of it says.
    public let question: Question
    /// Who is asked; nil while anybody may claim it.
    public let user: UserID?
    /// Whether a device has claimed it by its code; nil for a question that was put to devices when it was asked.
    public let claim: Claim?
    /// The short message, which notifications show.
    public let alert: DisplayMessage
    /// How it may be answered.
    public let methods: [AnswerMethod]
    /// The keyed hash of the number to be typed; nil when none is asked for, and after the end.
    public let numberHash: [UInt8]?
    /// How often it may be answered wrongly before it fails; nil for as often as PINs and authenticators allow.
    public let attempts: Int?
    /// When it ends unanswered.
    public let expiresAt: Timestamp
    /// Where its end is told.
    public let callbackURI: CallbackURI?
    /// Where the device brings back the code that releases an approval; nil where nothing holds it.
    public let returnURI: ReturnURI?
    /// What the client wants back with it.
    public let clientState: String?
    /// The language of its texts.
    public let locale: String?
    /// The keyed hash of what the client knows the browser by from which this was started; nil where it said nothing.
    public let browser: [UInt8]?
    /// The device that waits for the answer to be added; nil for every other question.
    public let newDevice: EnrollmentID?
    /// How it stands.
    public let state: ChallengeState

    /// Its id.
    public var id: ChallengeID { question.challenge }
    /// Whether the user types a code that was sent to them, instead of answering on a device.
    public var isText: Bool { methods.isEmpty }
    /// How its code travels, where it has one.
    ///
    /// Only a link has a place to return to, and only what is approved by one is held back.
    var codeForm: ChallengeCode.Form { returnURI == nil ? .picture : .link }
    /// When a device claimed it by its code; nil where none did.
    public var claimedAt: Timestamp? {
        if case .done(let time) = claim { time } else { nil }
    }

    /// A challenge of these parts.
    public init(
        question: Question, user: UserID?, claim: Claim? = nil, alert: DisplayMessage, methods: [AnswerMethod],
        numberHash: [UInt8]?, attempts: Int? = nil, expiresAt: Timestamp, callbackURI: CallbackURI?,
        returnURI: ReturnURI? = nil, clientState: String?, locale: String?,
        browser: [UInt8]? = nil, newDevice: EnrollmentID? = nil, state: ChallengeState
    ) {
        self.question = question
        self.user = user
        self.claim = claim
        self.alert = alert
        self.methods = methods
        self.numberHash = numberHash
        self.attempts = attempts
        self.expiresAt = expiresAt
        self.callbackURI = callbackURI
        self.returnURI = returnURI
        self.clientState = clientState
        self.locale = locale
        self.browser = browser
        self.newDevice = newDevice
        self.state = state
    }

    /// The challenge as it is put to one enrollment.
    ///
    /// - Parameters:
    ///   - enrollment: which.
    ///   - attemptsLeft: how many wrong PINs may yet be typed; nil where no PIN answers.
    func body(for enrollment: Enrollment, attemptsLeft: Int?) -> ChallengeBody {
        ChallengeBody(
            question: question, user: enrollment.user, enrollment: enrollment.id, methods: methods,
            numberEntry: numberHash == nil ? nil : EntryNumber.length,
            attemptsLeft: attemptsLeft, expiresAt: expiresAt, locale: locale, isClaimed: claim != nil,
            returnURI: returnURI)
    }
}

/// How far a question has come that is put to the first device which presents its code.
///
/// Spec: design 3.7.
public enum Claim: Hashable, Sendable {
    /// No device has presented it.
    case awaited
    /// One has.
    case done(at: Timestamp)
}

/// One enrollment a challenge was put to.
public struct ChallengeTarget: Sendable {
    /// When the device first fetched the challenge; nil while it has not.
    public let fetchedAt: Timestamp?

    /// A target that was first fetched at a time.
    public init(fetchedAt: Timestamp?) {
        self.fetchedAt = fetchedAt
    }
}

/// One earlier ask, as far as the limits need to know it.
public struct RecentAsk: Sendable {
    /// When.
    public let askedAt: Timestamp
    /// What came of it.
    public let outcome: Outcome

    /// What came of an ask, as far as it matters for the next one.
    public enum Outcome: Hashable, Sendable {
        /// The user approved.
        case approved
        /// The user said no, or that somebody else had started it.
        case denied(at: Timestamp)
        /// It is open, or ended otherwise.
        case other
    }

    /// An ask of these parts.
    public init(askedAt: Timestamp, outcome: Outcome) {
        self.askedAt = askedAt
        self.outcome = outcome
    }
}

/// The answer that decided a challenge, as it is kept.
public struct StoredReceipt: Sendable {
    /// The challenge, which may be kept no longer.
    public let challenge: ChallengeID
    /// Who asked.
    public let client: ClientID
    /// Whose device answered.
    public let enrollment: EnrollmentID
    /// The signed text and the certificate as it was.
    public let evidence: Evidence
    /// When the server accepted it.
    public let acceptedAt: Timestamp

    /// A receipt of these parts.
    public init(
        challenge: ChallengeID, client: ClientID, enrollment: EnrollmentID, evidence: Evidence, acceptedAt: Timestamp
    ) {
        self.challenge = challenge
        self.client = client
        self.enrollment = enrollment
        self.evidence = evidence
        self.acceptedAt = acceptedAt
    }
}

/// The reply an answer got, for the same answer sent again.
public struct RecordedAnswer: Sendable {
    /// The challenge it answered.
    public let challenge: ChallengeID
    /// How the challenge stood after it.
    public let status: ChallengeStatus
    /// What a custom authenticator made of it; nil where none was asked.
    public let custom: CustomReply?

    /// A record of these parts.
    public init(challenge: ChallengeID, status: ChallengeStatus, custom: CustomReply? = nil) {
        self.challenge = challenge
        self.status = status
        self.custom = custom
    }
}

extension UnitOfWork {
    /// Ends a challenge, with all that follows from it; one that is over ends as expired, whatever came too late for it.
    ///
    /// - Returns: nil when it ended so; how it stands when it has ended otherwise, or somebody was faster since it was
    ///   read.
    func endChallenge(
        _ challenge: Challenge, as wanted: ChallengeOutcome
    ) throws -> ChallengeStatus? {
        let outcome = now < challenge.expiresAt ? wanted : .expired
        guard (try? challenge.state.applying(outcome, at: now, expiresAt: challenge.expiresAt)) != nil,
            try challenges.end(challenge.id, as: outcome, at: now)
        else { return (try challenges.find(challenge.id) ?? challenge).state.status }
        // What a device had approved, and did not bring back in time.
        if challenge.returnURI != nil, outcome.method == nil { try receipts.delete(of: challenge.id) }
        try raise(.challengeEnded(challenge, outcome))
        return outcome == wanted ? nil : ChallengeState.ended(outcome, at: now).status
    }

    /// How a challenge has ended, as its client is told; nil while it is open.
    ///
    /// One that is over ends by this, if nobody has ended it yet: whoever is told so must be told nothing else by a
    /// server whose clock is behind.
    func endedStatus(of challenge: Challenge) throws -> ChallengeStatus? {
        if challenge.state.isEnded { return challenge.state.status }
        guard now >= challenge.expiresAt else { return nil }
        return try endChallenge(challenge, as: .expired) ?? ChallengeState.ended(.expired, at: now).status
    }

    /// How a challenge has ended, as a device is told, which knows what it has approved before the client does.
    func endedStatusForDevice(of challenge: Challenge) throws -> ChallengeStatus? {
        if let status = try endedStatus(of: challenge) { return status }
        guard case .returning(let method, let enrollment) = challenge.state else { return nil }
        return ChallengeState.ended(.approved(method, by: enrollment), at: now).status
    }
}
