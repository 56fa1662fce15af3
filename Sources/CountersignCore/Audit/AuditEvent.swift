package import CountersignWire
package import Encodings

/// The stable names of the audit's events.
package enum AuditEventKind: String, CaseIterable, Sendable {
    case clientCreated = "client.created"
    case clientUpdated = "client.updated"
    case clientSecretRenewed = "client_secret.renewed"
    case clientDisabled = "client.disabled"
    case clientEnabled = "client.enabled"
    case clientDeleted = "client.deleted"
    case clientSendsConstants = "client.sends_constants"
    case callbackSecretRenewed = "callback_secret.renewed"
    case issuerKeyChanged = "issuer_key.changed"
    case bootstrapTokenRenewed = "bootstrap_token.renewed"
    case relyingPartySet = "relying_party.set"
    case relyingPartyRemoved = "relying_party.removed"
    case lookSet = "look.set"
    case lookRemoved = "look.removed"
    case signedIn = "signed_in"
    case consentGiven = "consent.given"
    case accessEnded = "access.ended"
    case sessionEnded = "session.ended"
    case tokensGiven = "tokens.given"
    case tokensEnded = "tokens.ended"
    case typeSet = "type.set"
    case typeRemoved = "type.removed"
    case userCreated = "user.created"
    case userDeleted = "user.deleted"
    case userExported = "user.exported"
    case userClaimsSet = "user.claims_set"
    case passkeyCreated = "passkey.created"
    case passkeyRemoved = "passkey.removed"
    case userCodeSet = "user_code.set"
    case userCodeRemoved = "user_code.removed"
    case userCodeIncorrect = "user_code.incorrect"
    case userCodeLocked = "user_code.locked"
    case identifierVerified = "identifier.verified"
    case identifierRemoved = "identifier.removed"
    case claimEnded = "claim.ended"
    case ticketCreated = "ticket.created"
    case enrollmentCreated = "enrollment.created"
    case enrollmentApproved = "enrollment.approved"
    case enrollmentConfirmed = "enrollment.confirmed"
    /// It is confirmed later, unless it is removed or suspended before.
    case enrollmentConfirming = "enrollment.confirming"
    case enrollmentUnconfirmed = "enrollment.unconfirmed"
    case enrollmentWaived = "enrollment.waived"
    case enrollmentSuspended = "enrollment.suspended"
    case enrollmentResumed = "enrollment.resumed"
    case enrollmentBlocked = "enrollment.blocked"
    case enrollmentUnblocked = "enrollment.unblocked"
    case enrollmentUpdated = "enrollment.updated"
    case enrollmentRemoved = "enrollment.removed"
    case methodChanged = "method.changed"
    case methodChangeRefused = "method_change.refused"
    case pinIncorrect = "pin.incorrect"
    case pinLocked = "pin.locked"
    case customAccepted = "custom.accepted"
    case customRefused = "custom.refused"
    case challengeAsked = "challenge.asked"
    case challengeClaimed = "challenge.claimed"
    /// A device has approved a challenge that it opened by a link; the browser has not presented the return code yet.
    case challengeReturning = "challenge.returning"
    case challengeFetched = "challenge.fetched"
    case challengeApproved = "challenge.approved"
    case challengeDenied = "challenge.denied"
    case challengeReported = "challenge.reported"
    case challengeFailed = "challenge.failed"
    case challengeCancelled = "challenge.cancelled"
    case challengeExpired = "challenge.expired"
    case answerRefused = "answer.refused"
    case askingUnlocked = "asking.unlocked"
    case messageRetried = "message.retried"
    case messageTested = "message.tested"
}

/// An event of the audit: what happened, when, by whom, and to whom.
///
/// It never holds a secret.
package struct AuditEvent: Hashable, Sendable {
    /// The event's id; events are in the order of their ids.
    package let id: EventID
    /// When it happened.
    package let at: Timestamp
    /// What happened.
    package let kind: AuditEventKind
    /// Who acted.
    package let actor: Actor
    /// The client concerned.
    package let client: ClientID?
    /// The user concerned.
    package let user: UserID?
    /// The enrollment concerned.
    package let enrollment: EnrollmentID?
    /// The challenge concerned.
    package let challenge: ChallengeID?
    /// Further data about the event.
    package let detail: JSONObject

    /// An event of these parts.
    package init(
        id: EventID, at: Timestamp, kind: AuditEventKind, actor: Actor, client: ClientID? = nil,
        user: UserID? = nil, enrollment: EnrollmentID? = nil, challenge: ChallengeID? = nil, detail: JSONObject = [:]
    ) {
        self.id = id
        self.at = at
        self.kind = kind
        self.actor = actor
        self.client = client
        self.user = user
        self.enrollment = enrollment
        self.challenge = challenge
        self.detail = detail
    }
}
