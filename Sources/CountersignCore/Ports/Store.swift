package import CountersignWire

/// An error of the store; the store throws no others.
package enum StoreError: Error, Equatable, Sendable {
    /// A value that must be unique exists already; the text names the constraint.
    case uniqueViolation(String)
    /// The transaction clashed with another and can be tried again.
    case serializationFailure
    /// The store cannot be reached now.
    case unavailable
    /// There is no room on the database's disk. Nothing was changed; reads go on.
    case full
    /// A stored row is invalid.
    case corruptRow(String)
    /// The database engine failed; the text is for the log, never for a caller.
    case engine(String)
}

/// How many attempts of a kind were made in a window of time.
package struct AttemptCount: Equatable, Sendable {
    /// How many, the latest included.
    package let number: Int
    /// When the window ends, and these attempts cease to count.
    package let windowEnd: Timestamp

    /// A count.
    package init(number: Int, windowEnd: Timestamp) {
        self.number = number
        self.windowEnd = windowEnd
    }
}

/// The database.
///
/// It is implemented once, in the storage target, with the same SQL for all engines.
package protocol Store: Sendable {
    /// The sequence number in the audit up to which no event can be added any more.
    func auditEnd() async throws -> Int64

    /// Runs reads on a consistent state.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result

    /// Runs a transaction.
    ///
    /// When this returns, the data survive the death of the process and the machine, and the notifications are on their
    /// way. When it throws, nothing was written. The body may run again after a clash.
    func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result
}

/// All stores of one transaction.
///
/// In a read-only transaction, the engine refuses every write.
package protocol Stores: AnyObject, StoreAccess, ClientStore, RelyingPartyStore, LookStore, ReceiverStore, KeyStore,
    TypeStore, UserStore, LinkStore, IdentifierStore,
    ErasureStore, AskingLockStore, BrowserStore, EnrollmentStore, MethodStore, TicketStore, NonceStore, WaitStore,
    PushStore, ListStore, ChallengeStore, TargetStore, ReceiptStore, AnswerStore, OutboxStore, ReplyStore, AuditStore,
    AttemptStore, AuthorizationStore, SessionStore, TokenFamilyStore, GrantStore, PasskeyStore, RetentionStore
{
    /// Notifies a topic when, and only when, the transaction commits.
    func notify(_ topic: ChangeTopic)
}

/// Gives access to the stores of a transaction by name.
package protocol StoreAccess {
    /// All stores.
    var stores: any Stores { get }
}

extension Stores {
    /// Itself.
    package var stores: any Stores { self }
}

extension StoreAccess {
    /// The clients.
    package var clients: any ClientStore { stores }
    /// How clients use the OpenID provider.
    package var relyingParties: any RelyingPartyStore { stores }
    /// What clients replace on their pages.
    package var looks: any LookStore { stores }
    /// The sign-ins, and the codes that clients redeem.
    package var authorizations: any AuthorizationStore { stores }
    /// The sessions of browsers.
    package var sessions: any SessionStore { stores }
    /// The token families.
    package var families: any TokenFamilyStore { stores }
    /// What users have allowed clients.
    package var grants: any GrantStore { stores }
    /// The receivers of callbacks and notices: their URLs, and which of them have said that they are gone.
    package var receivers: any ReceiverStore { stores }
    /// The passkeys of users.
    package var passkeys: any PasskeyStore { stores }
    /// The issuer's own keys, and the bootstrap token.
    package var keys: any KeyStore { stores }
    /// The challenge types.
    package var types: any TypeStore { stores }
    /// The users.
    package var users: any UserStore { stores }
    /// The links between clients and users, with the clients' names for the users.
    package var links: any LinkStore { stores }
    /// The addresses of users.
    package var identifiers: any IdentifierStore { stores }
    /// The data of deleted users that are still to be erased.
    package var erasures: any ErasureStore { stores }
    /// The locks that keep a client from asking a user.
    package var askingLocks: any AskingLockStore { stores }
    /// The browsers in which users have approved something.
    package var browsers: any BrowserStore { stores }
    /// The enrollments.
    package var enrollments: any EnrollmentStore { stores }
    /// The keys of enrollments that prove a method, and the wrong answers given with them.
    package var methods: any MethodStore { stores }
    /// The tickets with which devices enroll.
    package var tickets: any TicketStore { stores }
    /// The nonces that were used.
    package var nonces: any NonceStore { stores }
    /// The data that decide when something new counts: cooling-offs, records of removed enrollments, and what waits.
    package var waits: any WaitStore { stores }
    /// The push registrations of devices, and the states of pushes.
    package var pushes: any PushStore { stores }
    /// Pages of lists.
    package var lists: any ListStore { stores }
    /// The challenges.
    package var challenges: any ChallengeStore { stores }
    /// The devices to which each challenge is sent.
    package var targets: any TargetStore { stores }
    /// The receipts.
    package var receipts: any ReceiptStore { stores }
    /// The answers that were accepted, for the case that an answer is repeated.
    package var answers: any AnswerStore { stores }
    /// The outbox, as rules and operators use it.
    package var outbox: any OutboxStore { stores }
    /// The replies that may have to be repeated.
    package var replies: any ReplyStore { stores }
    /// The audit.
    package var audit: any AuditStore { stores }
    /// The counted attempts.
    package var attempts: any AttemptStore { stores }
    /// Deletes expired data.
    package var retention: any RetentionStore { stores }
}
