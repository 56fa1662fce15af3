import CountersignWire

/// An event of a transaction.
///
/// A rule reports an event by ``UnitOfWork/raise(_:)``. `Consequences.swift` defines what follows from the event. The
/// actor of the event is ``UnitOfWork/actor`` of the unit of work.
enum DomainEvent: Sendable {
    /// A challenge was put to devices, and some of them are notified by push.
    case challengeAsked(Challenge, of: [EnrollmentID], telling: [EnrollmentID])
    /// A device has presented the code of a challenge, and the challenge is put to it.
    case challengeClaimed(Challenge, by: Enrollment, via: ChallengeCode.Form)
    /// A device has fetched a challenge for the first time, or answered what a poll had brought.
    case challengeFetched(Challenge, by: Enrollment)
    /// A device has approved a challenge that it opened by a link; the return code is still to be presented.
    case challengeHeld(Challenge, AnswerMethod, by: Enrollment)
    /// A challenge has ended. A device that has decided by its answer is as it was when the answer was verified.
    case challengeEnded(Challenge, ChallengeOutcome, decidedBy: Enrollment?)
    /// An answer of a device was refused as invalid.
    case answerRefused(ChallengeID, AnswerFault, digest: MessageDigest, by: Enrollment)
    /// A hook was asked about data for a custom authenticator, to answer a challenge or, without a challenge, to
    /// register the authenticator.
    case customAnswered(AuthenticatorName, CustomResult, to: Challenge?, by: Enrollment)

    case ticketCreated(Ticket)
    case enrollmentAdded(Enrollment, isWaived: Bool)
    /// The wait of an enrollment and of its methods was waived.
    case enrollmentWaived(Enrollment)
    /// An enrollment no longer waits; if it did not wait before, only the wait of its methods has ended.
    case enrollmentLetIn(Enrollment, by: LetInBy, didWait: Bool)
    /// A user has confirmed an enrollment, or the operator in the user's name.
    case enrollmentConfirmed(Enrollment)
    /// A user has said by an address that an enrollment is theirs; it is confirmed from this time on.
    case enrollmentConfirming(Enrollment, from: Timestamp)
    /// That a user has confirmed an enrollment counts no more.
    case enrollmentUnconfirmed(Enrollment)
    case enrollmentSuspended(Enrollment)
    case enrollmentResumed(Enrollment)
    case enrollmentUpdated(Enrollment, EnrollmentUpdate)
    /// An enrollment was removed; the client is the one that wanted the removal, or the one through which it
    /// enrolled.
    case enrollmentRemoved(Enrollment, RemovalReason, client: ClientID)

    case methodChanged(MethodEvent, of: Enrollment)
    case methodChangeRefused(reason: String, of: Enrollment)
    /// A custom authenticator is no longer registered for a device.
    case authenticatorDeregistered(AuthenticatorName, of: Enrollment)
    /// A custom authenticator was dropped, because its hook refused finally or because the client has removed it.
    case authenticatorLost(AuthenticatorName, of: Enrollment)
    case pinIncorrect(attemptsLeft: Int, of: Enrollment)
    case pinLocked(of: Enrollment)

    case userCreated(UserID)
    case userDeleted(UserID, client: ClientID)
    case userExported(UserID)
    /// A user has set the code without which no client's server has them asked, or another one.
    case userCodeSet(UserID)
    /// A user has removed that code.
    case userCodeRemoved(UserID)
    /// A client's server has brought a wrong code to have a user asked.
    case userCodeIncorrect(attemptsLeft: Int, of: UserID, by: ClientID)
    /// It was one too many: for a while nobody is asked by the right one either.
    case userCodeLocked(of: UserID, by: ClientID)
    /// A user has proved an address.
    case identifierVerified(VerifiedIdentifier)
    /// A user has removed an address that they had proved.
    case identifierRemoved(VerifiedIdentifier)
    /// A user has proved an address on a client's word.
    case claimProved(ClaimedIdentifier)
    /// What a client claimed of an address has ended, since somebody else has proved it.
    case claimEnded(ClaimedIdentifier)
    /// A client has blocked a user from enrolling devices through it, or has ended the block.
    case enrollingBlocked(Bool, UserID)
    /// What a client says of a user for itself has changed.
    case userClaimsSet(UserID)
    /// The lock was ended that kept a client from asking a user.
    case askingUnlocked(AskingLock)

    /// A user has allowed a client what it wants.
    case consentGiven(Grant)
    /// A user has ended what a client may have.
    case accessEnded(UserID, ClientID)

    case passkeyCreated(RegisteredPasskey)
    /// A passkey was removed; it is told as it was before.
    case passkeyRemoved(RegisteredPasskey)

    case clientCreated(Client)
    case clientUpdated(ClientID, ClientChanges)
    case clientSecretRenewed(ClientID, earlierUntil: Timestamp)
    case callbackSecretRenewed(ClientID, earlierUntil: Timestamp)
    case clientDisabled(ClientID)
    case clientEnabled(ClientID)
    case clientDeleted(ClientID)
    case relyingPartySet(RelyingParty)
    case relyingPartyRemoved(ClientID)
    case lookSet(Look, of: ClientID)
    case lookRemoved(ClientID)
    /// A client sends constants in parameters whose values must be new each time.
    case constantValues([String], of: ClientID)
    /// A person was signed in at a client; fresh if they were authenticated for it.
    case signedIn(Authorization, Authentication, isFresh: Bool)
    /// A device has signed its user in by itself.
    case signedInByDevice(TokenFamily)
    case sessionEnded(Session)
    case tokensGiven(TokenFamily)
    case tokensEnded(FamilySelection, FamilyEnd, count: Int)
    case typeSet(ChallengeType)
    case typeRemoved(TypeName)
    /// A client's server has not taken what it was to be told of a decision about its request.
    case backchannelGivenUp(AuthorizationID, ClientID)
    case messageRetried(OutboxMessage)
    case messageTested(OutboxMessage, MessageTemplate)
    /// Issuer keys have a new state, and other keys were deleted.
    case issuerKeysChanged([IssuerKey], ended: [IssuerKey])
}

/// A change of an answer method.
struct MethodEvent: Sendable {
    /// The kinds of change.
    enum Change: String, Sendable { case set, replaced, removed, undone, counts }

    let method: AnswerMethod
    let change: Change
    /// Until when the method waits; nil if it does not.
    var until: Timestamp?
}

/// The result of asking a hook about data of a device.
struct CustomResult: Sendable {
    /// The hook's verdict; nil if the hook gave no valid reply.
    let verdict: HookVerdict.Result?
    /// How many tries are left; nil if they are not counted.
    var attemptsLeft: Int?
}
