public import CountersignWire
public import Encodings
public import OpenPGP

/// What went wrong with the store; nothing else comes out of it.
public enum StoreError: Error, Equatable, Sendable {
    /// A value that must be unique exists already; the constraint.
    case uniqueViolation(String)
    /// The transaction clashed with another and can be tried again.
    case serializationFailure
    /// The store cannot be reached now.
    case unavailable
    /// A stored row does not make sense.
    case corruptRow(String)
    /// The engine failed; for the log, never for a caller.
    case engine(String)
}

/// How many attempts of a kind were made in a window of time.
public struct AttemptCount: Equatable, Sendable {
    /// How many, the latest included.
    public let number: Int
    /// When they cease to count.
    public let windowEnd: Timestamp

    /// A count.
    public init(number: Int, windowEnd: Timestamp) {
        self.number = number
        self.windowEnd = windowEnd
    }
}

/// What is remembered.
///
/// Implemented once, over one SQL, in the storage target.
public protocol Store: Sendable {
    /// The place in the audit up to which nothing can be added any more.
    func auditEnd() async throws -> Int64

    /// Reads a consistent state.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result

    /// Runs a transaction.
    ///
    /// When this returns, what was written survives the death of the process and the machine, and its wakes are on
    /// their way; when it throws, nothing was written. The body may run again after a clash.
    func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result
}

/// Typed reads, by aggregate.
///
/// All throw ``StoreError``.
public protocol StoreReader {
    // Clients and types
    func client(_ id: ClientID) throws -> Client?
    func clients() throws -> [Client]
    /// Clients that were deleted, of which something may be left.
    func deletedClients() throws -> [ClientID]
    func linkedUsers(of client: ClientID, limit: Int) throws -> [UserID]
    /// What a client has asked and nobody answered, but for whether a new device is let in.
    func openChallenges(of client: ClientID, limit: Int) throws -> [ChallengeID]
    func openChallenges(of client: ClientID, user: UserID) throws -> [ChallengeID]
    func operatorClient() throws -> Client?
    /// Where a client is not called back any more, because it said that it is gone.
    func goneReceivers(of client: ClientID) throws -> [CallbackURI]
    func goneReceivers() throws -> [ClientID: [CallbackURI]]
    func bootstrapToken() throws -> BootstrapToken?
    func challengeType(_ name: TypeName) throws -> ChallengeType?
    func challengeTypes() throws -> [ChallengeType]

    // Keys
    /// The issuer's own keys.
    func issuerKeys() throws -> IssuerKeyMaterial

    // Users
    func linkedUser(_ reference: UserReference, of client: ClientID) throws -> LinkedUser?
    func linkCount(of user: UserID) throws -> Int
    /// Those that a client knows, in the order of their ids.
    func linkedUsers(of client: ClientID, after id: UserID?, limit: Int) throws -> [LinkedUser]
    /// In the order of their ids, those who are deleted among them.
    func users(after id: UserID?, limit: Int) throws -> [UserID]
    /// As operators see them, also when deleted.
    func user(_ id: UserID) throws -> KnownUser?
    /// What is still to be erased; nil for nothing.
    func nextErasure() throws -> Erasure?
    /// What clients call a user.
    func externalIDs(of user: UserID) throws -> [(client: ClientID, externalID: ExternalID)]
    /// The longest cooling-off of the clients that know a user, or did within their own; nil where there is none.
    func longestCoolingOff(of user: UserID, at: Timestamp) throws -> Int64?
    /// What was left behind under any of some names; nil for nothing that counts yet.
    func leftBehind(by subjects: [String], at: Timestamp) throws -> LeftBehind?
    /// Where the clients that are linked to a user want to hear of its devices.
    func noticeReceivers(of user: UserID) throws -> [NoticeReceiver]
    func isAskingLocked(of user: UserID, by client: ClientID) throws -> Bool
    /// Whether a user has approved something of a client's from a browser, by its hash.
    func isKnown(_ browser: [UInt8], of user: UserID, by client: ClientID) throws -> Bool
    /// In the order of their challenges.
    func askingLocks(after id: ChallengeID?, limit: Int) throws -> [AskingLock]

    // Enrollments
    func enrollment(_ id: EnrollmentID) throws -> Enrollment?
    func enrollmentState(_ id: EnrollmentID) throws -> Enrollment.State?
    func enrollments(of user: UserID) throws -> [Enrollment]
    func activeEnrollments(of user: UserID) throws -> [Enrollment]
    /// Of all users of a client, in their order.
    func enrollments(
        of client: ClientID, after place: (UserID, EnrollmentID)?, limit: Int
    ) throws -> [(user: UserID, enrollment: EnrollmentID)]
    /// Of everybody, oldest first.
    func enrollments(after id: EnrollmentID?, limit: Int) throws -> [(user: UserID, enrollment: EnrollmentID)]
    /// The one that has a key.
    func enrolled(_ fingerprint: Fingerprint) throws -> (user: UserID, enrollment: EnrollmentID)?
    func certificate(of enrollment: EnrollmentID) throws -> [UInt8]?
    func pushRegistration(of enrollment: EnrollmentID) throws -> RegisteredPush?
    func isEnrolled(_ fingerprint: Fingerprint) throws -> Bool
    func ticket(_ hash: SecretHash) throws -> Ticket?
    func isSpent(nonce: String, of keyID: String) throws -> Bool
    /// What counts by now and was not told yet; `confirm` stands for the device itself.
    func dueWaits(now: Timestamp, limit: Int) throws -> [(enrollment: EnrollmentID, method: Method)]

    // Challenges
    func challenge(_ id: ChallengeID) throws -> Challenge?
    func openChallengeCount(of user: UserID, by client: ClientID, now: Timestamp, limit: Int) throws -> Int
    /// Newest first.
    func recentAsks(of user: UserID, by client: ClientID, since: Timestamp, limit: Int) throws -> [RecentAsk]
    func target(of challenge: ChallengeID, enrollment: EnrollmentID) throws -> ChallengeTarget?
    func targets(of challenge: ChallengeID) throws -> [EnrollmentID]
    func deliveries(of challenge: ChallengeID) throws -> [Delivery]
    /// Newest first.
    func pendingChallenges(of enrollment: EnrollmentID, user: UserID, now: Timestamp, limit: Int) throws -> [Challenge]
    /// Those that a device has approved and whose codes were not presented yet.
    func heldChallenges(approvedBy enrollment: EnrollmentID, user: UserID, now: Timestamp) throws -> [Challenge]
    /// In their order; nil for a challenge that is not there and a device that has no push registration. As many
    /// challenges as the limit are counted at most.
    func announcementFacts(
        of subjects: [AnnounceChallenge.Subject], now: Timestamp, limit: Int
    ) throws -> [AnnounceChallenge.Facts?]
    /// Newest first.
    func challengeEntries(
        in scope: ListScope, of user: UserID?, before place: ListChallenges.Place?, limit: Int
    ) throws -> [ChallengeEntry]
    /// Those that have not ended.
    func openChallenges(of user: UserID) throws -> [Challenge]
    func overdueChallenges(now: Timestamp, limit: Int) throws -> [ChallengeID]
    func receipt(of challenge: ChallengeID) throws -> StoredReceipt?
    /// In the order of their challenges.
    func receipts(
        by enrollment: EnrollmentID, in scope: ListScope, after id: ChallengeID?, limit: Int
    ) throws -> [StoredReceipt]
    func recordedAnswer(by enrollment: EnrollmentID, digest: [UInt8]) throws -> RecordedAnswer?

    // The rest
    /// Oldest first.
    func outboxEntries(_ state: OutboxEntry.State, after id: EventID?, limit: Int) throws -> [OutboxEntry]
    /// Nil for one that has arrived.
    func outboxEntry(_ id: EventID) throws -> OutboxEntry?
    func recordedReply(_ key: IdempotencyKey) throws -> RecordedReply?
    /// Oldest first, each with its place in the order of writing; those up to ``Store/auditEnd()`` are all there are.
    func auditEvents(
        _ filter: AuditFilter, after place: Int64, limit: Int
    ) throws -> [(place: Int64, event: AuditEvent)]
    /// What is counted in the current window, if there is one.
    func attempts(_ key: String, at: Timestamp) throws -> AttemptCount?
}

/// Typed writes, by aggregate, inside one transaction.
///
/// All throw ``StoreError``.
public protocol StoreWriter: StoreReader {
    /// Wakes a topic when, and only when, the transaction commits.
    func wake(_ topic: WakeTopic)

    // Keys
    /// Replaces the issuer's certificate and keeps its keys from being changed by others until the transaction ends.
    ///
    /// - Parameters:
    ///   - known: the certificate as it was read.
    ///   - certificate: the one to be; nil to leave it as it is.
    /// - Returns: false when it is another than the known one by now; nothing was done then.
    func replaceIssuerCertificate(_ known: Certificate, by certificate: Certificate?) throws -> Bool
    func put(_ key: IssuerKey) throws
    func delete(_ key: IssuerKey) throws

    // Clients and types
    func insert(_ client: Client, callbackSecret: Secret<String>?) throws
    /// Sets what changes and nothing else: of two at once neither takes back what the other did.
    func update(_ client: ClientID, _ changes: UpdateClient.Changes) throws
    /// Keeps a client from being disabled, deleted or changed until the transaction ends.
    ///
    /// Nil for one that is not there.
    func held(_ client: ClientID) throws -> Client?
    /// The secret of before lets in until a time.
    func renewSecret(of client: ClientID, to secret: SecretHash, earlierUntil: Timestamp) throws
    /// Disables a client from a time on, or, for nil, enables it.
    func disable(_ client: ClientID, at: Timestamp?) throws
    /// Keeps of a client only what challenges and devices refer to; it is not there any more.
    func delete(_ client: ClientID, at: Timestamp) throws
    /// The secret of before signs until a time.
    func renewCallbackSecret(of client: ClientID, to secret: Secret<String>, earlierUntil: Timestamp) throws
    /// Counts an answer of 410.
    ///
    /// - Returns: whether the receiver is gone.
    func noteGone(_ receiver: CallbackURI, of client: ClientID, at: Timestamp) throws -> Bool
    /// Nothing is held against a receiver any more.
    func forgetGone(_ receiver: CallbackURI, of client: ClientID) throws
    func forgetGoneReceivers(of client: ClientID) throws
    func put(_ token: BootstrapToken) throws
    func put(_ type: ChallengeType) throws
    /// False when there is none of this name.
    func removeType(_ name: TypeName) throws -> Bool

    // Users
    func insertUser(_ id: UserID, at: Timestamp) throws
    /// False when the client already knows another user by this external id.
    func link(_ user: UserID, to client: ClientID, externalID: ExternalID?) throws -> Bool
    /// For a client that is linked to the user.
    func blockEnrollment(_ isBlocked: Bool, of user: UserID, by client: ClientID) throws
    func unlink(_ user: UserID, from client: ClientID) throws
    /// Keeps others from adding, removing or changing devices of a user until the transaction ends.
    func lock(_ user: UserID) throws
    /// Keeps what an enrollment leaves behind under a name; of two times for the same the later one.
    func keep(_ left: LeftBehind, of enrollment: Enrollment, by subject: String) throws
    /// What was left behind under some names is left behind under another, too.
    func copyLeftBehind(from subjects: [String], to subject: String, at: Timestamp) throws
    /// Keeps a client's cooling-off for a user who is unlinked now.
    func keepCoolingOff(of client: ClientID, for user: UserID, at: Timestamp) throws
    func markDeleted(_ user: UserID, at: Timestamp) throws
    /// What a client has asked a user until now is to be erased.
    func putErasure(of user: UserID, by client: ClientID, at: Timestamp) throws
    /// Erases a batch of what is personal, and tells how many rows there were.
    func erase(_ erasure: Erasure, limit: Int) throws -> Int
    /// Nothing is left to be erased.
    func conclude(_ erasure: Erasure) throws
    func forgetBrowsers(of user: UserID) throws

    // Enrollments
    func insert(_ ticket: Ticket) throws
    /// False when the ticket was spent before.
    func spend(_ ticket: SecretHash, at: Timestamp) throws -> Bool
    func insert(_ enrollment: Enrollment, certificate: [UInt8]) throws
    /// A device counts from now on, if it does not already; no question about it is open.
    func count(_ enrollment: EnrollmentID, from: Timestamp) throws
    /// The PIN and biometric of a device count from now on, and what is set within ten minutes of enrolling.
    func countMethods(of enrollment: EnrollmentID, from: Timestamp) throws
    /// Suspends a device, or resumes it.
    func suspend(_ enrollment: EnrollmentID, since: Timestamp?) throws
    /// Remembers to tell when something counts; `confirm` stands for the device itself.
    func keepWait(_ method: Method, of enrollment: EnrollmentID, until: Timestamp) throws
    /// False when there was nothing to tell any more.
    @discardableResult
    func forgetWait(_ method: Method, of enrollment: EnrollmentID) throws -> Bool
    func forgetWaits(of enrollment: EnrollmentID) throws
    func put(_ device: DeviceDescription, of enrollment: EnrollmentID) throws
    /// The versions of a challenge's body that a device reads.
    func put(_ versions: [Int64], of enrollment: EnrollmentID) throws
    /// Keeps others from changing an enrollment until the transaction ends.
    ///
    /// For a transaction that will change it, before it looks at it: of many at once each waits for the one before.
    func hold(_ enrollment: EnrollmentID) throws
    /// Sets, replaces or, for nil, removes the key that proves a method, and keeps the certificate that says so; nil
    /// leaves the certificate as it is.
    func put(
        _ key: CertifiedKey?, for method: Method, of enrollment: EnrollmentID, certificate: [UInt8]?,
        countsFrom: Timestamp
    ) throws
    /// Replaces what custom authenticators a device has.
    func put(_ customs: [AuthenticatorName: EnrolledCustom], of enrollment: EnrollmentID) throws
    /// Counts a wrong PIN.
    ///
    /// - Returns: how many there are in a row; nil when the PIN is another one, or locked, by now.
    func countWrongPIN(_ key: CertifiedKey, of enrollment: EnrollmentID) throws -> Int?
    /// Forgets what wrong PINs there were.
    func forgetWrongPINs(of enrollment: EnrollmentID) throws
    func lockPIN(of enrollment: EnrollmentID, at: Timestamp) throws
    /// Registers where a device is reached by push notifications from now on.
    func put(_ push: PushRegistration, of enrollment: EnrollmentID, at: Timestamp) throws
    func removePush(of enrollment: EnrollmentID) throws
    /// Removes this registration, and no other that came since.
    func remove(_ push: PushTarget, of enrollment: EnrollmentID) throws
    /// False when the enrollment was not active.
    func remove(_ enrollment: EnrollmentID, reason: RemovalReason, at: Timestamp) throws -> Bool
    /// False when the nonce was spent before.
    func spend(nonce: String, of keyID: String, until: Timestamp) throws -> Bool

    // Challenges
    func insert(_ challenge: Challenge, targets: [EnrollmentID]) throws
    /// Puts a challenge that waits for it to the device that presents its code.
    ///
    /// False when it has ended, or is over, or another user's, or somebody else was first.
    func claim(
        _ challenge: ChallengeID, by enrollment: EnrollmentID, of user: UserID, at: Timestamp
    ) throws -> Bool
    /// Keeps a challenge that a device has approved until its client presents the code, or the time is up.
    ///
    /// From then on nothing ends it but that, a cancellation, the removal of the device or its time. False when it has ended, or is over, or was
    /// approved before.
    func hold(
        _ challenge: ChallengeID, approvedBy method: Method, on enrollment: EnrollmentID, until: Timestamp,
        at: Timestamp
    ) throws -> Bool
    func recordFetch(of challenge: ChallengeID, by enrollment: EnrollmentID, at: Timestamp) throws
    /// Ends a challenge if it is still pending and, unless it expires, not yet over: the one update that decides every
    /// race.
    ///
    /// False when somebody else was first.
    func end(_ challenge: ChallengeID, as outcome: ChallengeOutcome, at: Timestamp) throws -> Bool
    /// Notes how far the push that announces a challenge to a device has come.
    func note(_ delivery: PushDelivery, of challenge: ChallengeID, to enrollment: EnrollmentID, at: Timestamp) throws
    func insert(_ receipt: StoredReceipt) throws
    func removeReceipt(of challenge: ChallengeID) throws
    /// Deletes the oldest that have ended, with whom they were put to, and without their receipts; tells how many.
    func deleteChallenges(endedBefore: Timestamp, limit: Int) throws -> Int
    /// Deletes the oldest, and tells how many.
    func deleteReceipts(acceptedBefore: Timestamp, limit: Int) throws -> Int
    func forgetAnswers(by enrollment: EnrollmentID) throws
    func record(_ answer: RecordedAnswer, by enrollment: EnrollmentID, digest: [UInt8], at: Timestamp) throws

    // The rest
    func record(_ reply: RecordedReply, for key: IdempotencyKey, at: Timestamp) throws
    func append(_ event: AuditEvent) throws
    /// Deletes the oldest events, and tells how many.
    func deleteEvents(before: Timestamp, limit: Int) throws -> Int
    func enqueue(_ message: OutboxMessage) throws
    /// Remembers, or remembers anew, from which browser a user has approved something of a client's.
    func putBrowser(_ browser: [UInt8], of user: UserID, by client: ClientID, at: Timestamp) throws
    func removeBrowser(_ browser: [UInt8], of user: UserID, by client: ClientID) throws
    /// Keeps the first one of a user and a client.
    func put(_ lock: AskingLock) throws
    /// Nil when there is none.
    func endAskingLock(of challenge: ChallengeID) throws -> AskingLock?
    /// Makes a message due that has not arrived; nil when its content is gone.
    func requeue(_ message: EventID, at: Timestamp) throws -> OutboxMessage?
    /// Those that nobody else has settled for good.
    func settle(_ settlements: [EventID: Settlement], at: Timestamp) throws -> Set<EventID>
    /// Counts an attempt in the current window of this many seconds.
    ///
    /// A window that ends later than two of them from now is of a clock that was ahead, and a new one begins.
    func countAttempt(_ key: String, window: Int64, at: Timestamp) throws -> AttemptCount
    func forgetAttempts(_ key: String) throws
    /// Deletes a batch of what is no longer needed, and tells how many rows there were.
    func sweep(now: Timestamp, limit: Int) throws -> Int
}

extension StoreReader {
    /// All events, oldest first, each with its place in the order of writing.
    public func auditEvents(after place: Int64, limit: Int) throws -> [(place: Int64, event: AuditEvent)] {
        try auditEvents(AuditFilter(), after: place, limit: limit)
    }
}
