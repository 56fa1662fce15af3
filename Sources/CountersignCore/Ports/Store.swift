public import CountersignWire

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
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result

    /// Runs a transaction.
    ///
    /// When this returns, what was written survives the death of the process and the machine, and its notices are on
    /// their way; when it throws, nothing was written. The body may run again after a clash.
    func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any Stores) throws -> Result
    ) async throws -> Result
}

/// All stores, of one transaction.
///
/// In a transaction that reads, the engine refuses every write.
public protocol Stores: AnyObject, StoreAccess, ClientStore, ReceiverStore, KeyStore, TypeStore, UserStore, LinkStore,
    ErasureStore, AskingLockStore, BrowserStore, EnrollmentStore, MethodStore, TicketStore, NonceStore, WaitStore,
    PushStore, ListStore, ChallengeStore, TargetStore, ReceiptStore, AnswerStore, OutboxStore, ReplyStore, AuditStore,
    AttemptStore, RetentionStore
{
    /// ChangeNotifier a topic when, and only when, the transaction commits.
    func notify(_ topic: ChangeTopic)
}

/// What gives access to the stores of a transaction, each by its own name.
public protocol StoreAccess {
    /// All of them.
    var stores: any Stores { get }
}

extension Stores {
    /// Itself.
    public var stores: any Stores { self }
}

extension StoreAccess {
    /// The clients.
    public var clients: any ClientStore { stores }
    /// The receivers of callbacks and notices: where they are, and which of them said that they are gone.
    public var receivers: any ReceiverStore { stores }
    /// The issuer's own keys, and the bootstrap token.
    public var keys: any KeyStore { stores }
    /// The challenge types.
    public var types: any TypeStore { stores }
    /// The users.
    public var users: any UserStore { stores }
    /// Which client knows which user, and by what name.
    public var links: any LinkStore { stores }
    /// What is still to be erased of users who are gone.
    public var erasures: any ErasureStore { stores }
    /// Which client may not ask which user.
    public var askingLocks: any AskingLockStore { stores }
    /// From which browsers users have approved something.
    public var browsers: any BrowserStore { stores }
    /// The enrollments.
    public var enrollments: any EnrollmentStore { stores }
    /// The keys of enrollments that prove a method, and what was answered wrongly by them.
    public var methods: any MethodStore { stores }
    /// The tickets by which devices are enrolled.
    public var tickets: any TicketStore { stores }
    /// The nonces that were spent.
    public var nonces: any NonceStore { stores }
    /// What decides whether something new counts: cooling-offs, what removed enrollments left behind, and what waits.
    public var waits: any WaitStore { stores }
    /// Where devices are reached by push, and how far pushes have come.
    public var pushes: any PushStore { stores }
    /// Pages of lists.
    public var lists: any ListStore { stores }
    /// The challenges.
    public var challenges: any ChallengeStore { stores }
    /// Which challenge is put to which device.
    public var targets: any TargetStore { stores }
    /// The receipts.
    public var receipts: any ReceiptStore { stores }
    /// The answers that were taken, for the same answer sent again.
    public var answers: any AnswerStore { stores }
    /// The outbox, as rules and operators see it.
    public var outbox: any OutboxStore { stores }
    /// The replies that were sent once and may have to be sent again.
    public var replies: any ReplyStore { stores }
    /// The audit.
    public var audit: any AuditStore { stores }
    /// The attempts that are counted.
    public var attempts: any AttemptStore { stores }
    /// Deletes what is kept no longer.
    public var retention: any RetentionStore { stores }
}
