import CountersignWire

/// What has happened, in the transaction in which it did.
///
/// A rule says that it happened, by ``UnitOfWork/raise(_:)``; what follows from it stands in `Consequences.swift`. Who
/// acts is the unit of work's ``UnitOfWork/actor``.
enum DomainEvent: Sendable {
    /// A question was put to devices, some of which are told by push.
    case challengeAsked(Challenge, of: [EnrollmentID], telling: [EnrollmentID])
    /// A device has presented the code of a question and is asked it.
    case challengeClaimed(Challenge, by: Enrollment, via: ChallengeCode.Form)
    /// A device has fetched a question for the first time.
    case challengeFetched(Challenge, by: Enrollment)
    /// A device has approved what it opened by a link; the code that it brings back is still to be presented.
    case challengeHeld(Challenge, AnswerMethod, by: Enrollment)
    case challengeEnded(Challenge, ChallengeOutcome)
    /// A device's answer is not what it must be.
    case answerRefused(ChallengeID, AnswerFault, digest: MessageDigest, by: Enrollment)
    /// A hook has judged what a device sent for a custom authenticator: in answer to a question, or to be registered.
    case customAnswered(AuthenticatorName, CustomResult, to: ChallengeID?, by: Enrollment)

    case ticketCreated(Ticket)
    case enrollmentAdded(Enrollment, isWaived: Bool)
    /// Its wait, and that of its methods, was waived.
    case enrollmentWaived(Enrollment)
    /// It waits no longer, or did not before; then its methods do not any more.
    case enrollmentLetIn(Enrollment, by: LetInBy, didWait: Bool)
    case enrollmentSuspended(Enrollment)
    case enrollmentResumed(Enrollment)
    case enrollmentUpdated(Enrollment, EnrollmentUpdate)
    /// It is over, for a client: the one through which it came, or the one that wanted it so.
    case enrollmentRemoved(Enrollment, RemovalReason, client: ClientID)

    case methodChanged(MethodEvent, of: Enrollment)
    case methodChangeRefused(reason: String, of: Enrollment)
    /// A device answers by a custom authenticator no more.
    case authenticatorDeregistered(AuthenticatorName, of: Enrollment)
    /// A hook has refused so that the authenticator is gone; the audit has the refusal.
    case authenticatorLost(AuthenticatorName, of: Enrollment)
    case pinIncorrect(attemptsLeft: Int, of: Enrollment)
    case pinLocked(of: Enrollment)

    case userCreated(UserID)
    case userDeleted(UserID, client: ClientID)
    case userExported(UserID)
    /// A client lets a user enroll no more devices through it, or does so again.
    case enrollingBlocked(Bool, UserID)
    /// A client may ask a user again.
    case askingUnlocked(AskingLock)

    case clientCreated(Client)
    case clientUpdated(ClientID, ClientChanges)
    case clientSecretRenewed(ClientID, earlierUntil: Timestamp)
    case callbackSecretRenewed(ClientID, earlierUntil: Timestamp)
    case clientDisabled(ClientID)
    case clientEnabled(ClientID)
    case clientDeleted(ClientID)
    case typeSet(ChallengeType)
    case typeRemoved(TypeName)
    case messageRetried(EventID)
    case messageTested(OutboxMessage, MessageTemplate)
    /// Keys that stand otherwise than before, and those that are gone.
    case issuerKeysChanged([IssuerKey], ended: [IssuerKey])
}

/// What became of a method.
struct MethodEvent: Sendable {
    /// What can become of it.
    enum Change: String, Sendable { case set, replaced, removed, undone, counts }

    let method: AnswerMethod
    let change: Change
    /// Until when it waits; nil where it does not.
    var until: Timestamp?
}

/// What a hook has said of what a device sent.
struct CustomResult: Sendable {
    /// Nil where the hook could not be asked.
    let verdict: HookVerdict.Result?
    /// How many more there may be; nil where that is not counted.
    var attemptsLeft: Int?
}
