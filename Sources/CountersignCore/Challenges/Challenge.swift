package import CountersignWire
import Encodings

/// One question, to one user or to whoever presents its code first, with exactly one outcome.
///
/// A class, because it never changes, is large, and is handed on many times.
package final class Challenge: Sendable {
    /// What is asked, as it appears in every receipt.
    package let question: Question
    /// Who is asked; nil while anybody may claim it.
    package let user: UserID?
    /// How it reaches whoever answers.
    package let channel: Channel
    /// What it is asked for.
    package let purpose: Purpose
    /// The short message, which notifications show.
    package let alert: DisplayMessage
    /// How it may be answered.
    package let methods: [AnswerMethod]
    /// The keyed hash of the number to be typed; nil when none is asked for, and after the end.
    package let numberHash: KeyedHash?
    /// How often it may be answered wrongly before it fails; nil for as often as PINs and authenticators allow.
    package let attempts: Int?
    /// When it ends unanswered.
    package let expiresAt: Timestamp
    /// Where its end is reported; nil where the client asked for no callback.
    package let callbackURI: CallbackURI?
    /// In which form.
    package let callbackForm: CallbackForm
    /// Returned to the client with the challenge.
    package let clientState: String?
    /// The language of its texts.
    package let locale: RequestedLanguage?
    /// The keyed hash of what the client knows the browser by from which this was started; nil where it said nothing.
    package let browser: KeyedHash?
    /// Its state.
    package let state: ChallengeState

    /// Its id.
    package var id: ChallengeID { question.challenge }

    /// A challenge of these parts.
    package init(
        question: Question, user: UserID?, channel: Channel = .devices, purpose: Purpose = .relyingParty,
        alert: DisplayMessage, methods: [AnswerMethod], numberHash: KeyedHash?, attempts: Int? = nil,
        expiresAt: Timestamp, callbackURI: CallbackURI?, callbackForm: CallbackForm = .native, clientState: String?,
        locale: RequestedLanguage?, browser: KeyedHash? = nil, state: ChallengeState
    ) {
        self.question = question
        self.user = user
        self.channel = channel
        self.purpose = purpose
        self.alert = alert
        self.methods = methods
        self.numberHash = numberHash
        self.attempts = attempts
        self.expiresAt = expiresAt
        self.callbackURI = callbackURI
        self.callbackForm = callbackForm
        self.clientState = clientState
        self.locale = locale
        self.browser = browser
        self.state = state
    }

    /// The challenge as it is put to one enrollment.
    ///
    /// - Parameters:
    ///   - enrollment: which.
    ///   - attemptsLeft: how many wrong PINs may yet be typed; nil where no PIN answers.
    func body(for enrollment: Enrollment, attemptsLeft: Int?) -> ChallengeBody {
        ChallengeBody(
            question: question, alert: alert == question.message ? nil : alert, user: enrollment.user,
            enrollment: enrollment.id, methods: methods, numberEntry: numberHash == nil ? nil : EntryNumber.length,
            attemptsLeft: attemptsLeft, expiresAt: expiresAt, locale: locale?.description,
            isClaimed: channel.kind == .code, returnURI: channel.returnURI)
    }
}

extension Challenge: Equatable {
    /// Whether all of their parts are the same.
    package static func == (one: Challenge, other: Challenge) -> Bool {
        one.question == other.question && one.user == other.user && one.channel == other.channel
            && one.purpose == other.purpose && one.alert == other.alert && one.methods == other.methods
            && one.numberHash == other.numberHash && one.attempts == other.attempts
            && one.expiresAt == other.expiresAt && one.callbackURI == other.callbackURI
            && one.callbackForm == other.callbackForm && one.clientState == other.clientState
            && one.locale == other.locale && one.browser == other.browser
            && one.state == other.state
    }
}

extension Challenge {
    /// How many challenges a device is shown at once; more than a person can be asked.
    static let pendingLimit = 100

    /// Whether it is a client's to see, to take back and to announce again.
    ///
    /// What asks about a sign-in is not, though it is asked in the client's name: it would tell whether there is somebody
    /// of the name, and more. Spec: docs/decisions/0092-ciba.md.
    func isShown(to client: ClientID) -> Bool { question.client == client && !purpose.isOfSignIn }

    /// Whether only a device may answer it that signs everything that it shows.
    ///
    /// What must be read to be approved, the question about a new device, and an approval by a link, whose return code is
    /// sealed to the device, are so.
    var needsReceipt: Bool {
        switch purpose {
        case .newDevice, .ownSignIn: true
        case .relyingParty, .authorization:
            numberHash != nil || !question.details.isEmpty || question.signingData != nil || channel.returnURI != nil
        }
    }

    /// Whether an answer could still decide it.
    func isOpen(at now: Timestamp) -> Bool { state == .pending && now < expiresAt }

    /// The challenge after an outcome at a time: ended, and without the number to be typed.
    func applying(
        _ outcome: ChallengeOutcome, at now: Timestamp
    ) throws(ChallengeState.IllegalTransition) -> Challenge {
        Challenge(
            question: question, user: user, channel: channel, purpose: purpose, alert: alert, methods: methods,
            numberHash: nil, attempts: attempts, expiresAt: expiresAt, callbackURI: callbackURI,
            callbackForm: callbackForm, clientState: clientState, locale: locale, browser: browser,
            state: try state.applying(outcome, at: now, expiresAt: expiresAt))
    }
}

/// One enrollment a challenge was put to.
package struct ChallengeTarget: Sendable {
    /// When the device first fetched the challenge, or answered what a poll had brought; nil while it has not.
    package let fetchedAt: Timestamp?

    /// A target.
    package init(fetchedAt: Timestamp?) {
        self.fetchedAt = fetchedAt
    }
}

/// What a client has asked a user, as far as it matters for the next ask.
package struct EarlierAsks: Hashable, Sendable {
    /// Whether the user has reported an ask of the client, and the lock has not been ended.
    package let isLocked: Bool
    /// How many challenges are open.
    package let open: Int
    /// The recent asks, down to those of the same second as the last approved one, newest first.
    package let recent: [RecentAsk]

    /// Asks of these counts.
    package init(isLocked: Bool, open: Int, recent: [RecentAsk]) {
        self.isLocked = isLocked
        self.open = open
        self.recent = recent
    }
}

/// An earlier ask, as far as the limits depend on it.
package struct RecentAsk: Hashable, Sendable {
    /// When.
    package let askedAt: Timestamp
    /// How it ended.
    package let outcome: Outcome

    /// What came of an ask, as far as it matters for the next one.
    package enum Outcome: Hashable, Sendable {
        /// The user approved.
        case approved
        /// The user said no, or that somebody else had started it.
        case denied(at: Timestamp)
        /// It is open, or ended otherwise.
        case other
    }

    /// An ask of these parts.
    package init(askedAt: Timestamp, outcome: Outcome) {
        self.askedAt = askedAt
        self.outcome = outcome
    }
}
