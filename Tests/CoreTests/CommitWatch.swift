import CountersignCore
import CountersignStorage
import CountersignWire
import StorageTestSupport
import Synchronization

/// The rows that consequences depend on, as they are at one moment of a transaction.
struct RowState: Equatable, Sendable {
    struct ChallengeRow: Equatable, Sendable {
        let client: String
        let user: String?
        let purpose: String
        let hasCallback: Bool
        let channel: String
        let isClaimed: Bool
        let state: String
        let reason: String?
        let decidedBy: String?
        /// By device: whether it has fetched the challenge, and how far its push has come.
        var targets: [String: Target] = [:]

        var isPending: Bool { state == "pending" }
    }

    struct Target: Equatable, Sendable {
        let isFetched: Bool
        let push: String?
    }

    struct EnrollmentRow: Equatable, Sendable {
        let client: String
        let user: String
        let countsFrom: Int64
        let isSuspended: Bool
        let isRemoved: Bool
        let wrongPINs: Int64
        let isLocked: Bool
        let pin: [UInt8]?
        /// What waits, by method, and until when.
        var waits: [String: Int64] = [:]
    }

    struct ClientRow: Equatable, Sendable {
        let isDisabled: Bool
        let isDeleted: Bool
    }

    var challenges: [String: ChallengeRow] = [:]
    var enrollments: [String: EnrollmentRow] = [:]
    var clients: [String: ClientRow] = [:]
    /// Whether each user is deleted.
    var users: [String: Bool] = [:]
    /// By user and client: whether enrolling is blocked.
    var links: [String: Bool] = [:]
    /// By user: the clients that are told of their devices.
    var receivers: [String: [String]] = [:]
    /// By the enrollment that it is for: the client and the user.
    var tickets: [String: [String]] = [:]
    var outbox: [String: String] = [:]
    let lastEvent: Int64

    /// Reads the rows; of what had ended before a time, nothing.
    init(_ connection: any SQLConnection, since: Int64) throws {
        func rows(_ text: String, _ arguments: [SQLValue] = []) throws -> [SQLRow] {
            try connection.rows(SQLStatement(text), arguments)
        }
        lastEvent = try rows("SELECT max(sequence) FROM audit").first?.optionalInteger(0) ?? 0
        for row in try rows(
            """
            SELECT id, client_id, user_id, purpose, callback_uri, channel, claimed_at, state, reason, decided_by
            FROM challenges WHERE state = 'pending' OR ended_at >= $1
            """, [.integer(since)])
        {
            challenges[try row.text(0)] = ChallengeRow(
                client: try row.text(1), user: try row.optionalText(2), purpose: try row.text(3),
                hasCallback: try row.optionalText(4) != nil, channel: try row.text(5),
                isClaimed: try row.optionalInteger(6) != nil, state: try row.text(7), reason: try row.optionalText(8),
                decidedBy: try row.optionalText(9))
        }
        for row in try rows("SELECT challenge_id, enrollment_id, fetched_at, push_state FROM challenge_targets") {
            challenges[try row.text(0)]?.targets[try row.text(1)] = Target(
                isFetched: try row.optionalInteger(2) != nil, push: try row.optionalText(3))
        }
        for row in try rows(
            """
            SELECT id, client_id, user_id, counts_from, created_at, suspended_at, removed_at, wrong_pins, pin_locked_at,
            pin_key FROM enrollments WHERE removed_at IS NULL OR removed_at >= $1
            """, [.integer(since)])
        {
            enrollments[try row.text(0)] = EnrollmentRow(
                client: try row.text(1), user: try row.text(2),
                countsFrom: try row.optionalInteger(3) ?? (try row.integer(4)),
                isSuspended: try row.optionalInteger(5) != nil, isRemoved: try row.optionalInteger(6) != nil,
                wrongPINs: try row.integer(7), isLocked: try row.optionalInteger(8) != nil,
                pin: try row.optionalBlob(9))
        }
        for row in try rows("SELECT enrollment_id, method, until FROM waits") {
            enrollments[try row.text(0)]?.waits[try row.text(1)] = try row.integer(2)
        }
        for row in try rows("SELECT id, disabled_at, deleted_at FROM clients") {
            clients[try row.text(0)] = ClientRow(
                isDisabled: try row.optionalInteger(1) != nil, isDeleted: try row.optionalInteger(2) != nil)
        }
        for row in try rows(
            "SELECT id, deleted_at FROM users WHERE deleted_at IS NULL OR deleted_at >= $1", [.integer(since)])
        {
            users[try row.text(0)] = try row.optionalInteger(1) != nil
        }
        for row in try rows(
            """
            SELECT l.user_id, l.client_id, l.enrollment_blocked, c.notice_uri, c.disabled_at
            FROM user_links l JOIN clients c ON c.id = l.client_id
            """)
        {
            let (user, client) = (try row.text(0), try row.text(1))
            links["\(user) \(client)"] = try row.integer(2) == 1
            if try row.optionalText(3) != nil, try row.optionalInteger(4) == nil {
                receivers[user, default: []].append(client)
            }
        }
        for row in try rows("SELECT enrollment_id, client_id, user_id FROM tickets") {
            tickets[try row.text(0)] = [try row.text(1), try row.text(2)]
        }
        for row in try rows("SELECT id, kind FROM outbox") { outbox[try row.text(0)] = try row.text(1) }
    }
}

/// A row of the audit.
struct EventRow: Sendable {
    let kind: String
    let actor: String
    let client: String?
    let user: String?
    let enrollment: String?
    let challenge: String?
    let detail: String
}

/// A row of the outbox, still sealed.
struct MessageRow: Sendable {
    let id: String
    let kind: String
    let client: String
    let payload: [UInt8]
}

/// One transaction that has committed.
struct WatchedCommit: Sendable {
    let before: RowState
    let after: RowState
    let events: [EventRow]
    let messages: [MessageRow]
    /// Who was notified.
    let topics: [ChangeTopic]
}

/// An engine that keeps what each transaction did, and can fail one at its end.
final class CommitWatch: SQLEngine {
    /// The failure of a transaction that the watch has failed.
    struct Failure: Error {}

    private struct State {
        var since: Int64?
        /// How many transactions commit before one fails; nil for all.
        var failing: Int?
        var commits: [WatchedCommit] = []
    }

    private let engine: any SQLEngine
    private let state = Mutex(State())

    init(_ engine: any SQLEngine) { self.engine = engine }

    var dialect: SQLDialect { engine.dialect }
    var changes: any ChangeNotifier { engine.changes }
    var commitCount: CommitCount { engine.commitCount }

    /// Runs a body and returns the transactions that it committed.
    ///
    /// - Parameters:
    ///   - since: the time; what ended before is not looked at.
    ///   - failing: how many transactions commit before one fails after all its statements; nil for all.
    func commits(since: Int64, failing: Int?, of body: () async throws -> Void) async rethrows -> [WatchedCommit] {
        state.withLock { $0 = State(since: since, failing: failing) }
        defer { state.withLock { $0 = State() } }
        try await body()
        return state.withLock { $0.commits }
    }

    /// The rows now.
    func rows(since: Int64) async throws -> RowState { try await engine.read { try RowState($0, since: since) } }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await engine.read(body) }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> (Result, changes: [ChangeTopic])
    ) async throws -> Result {
        let (since, fails) = state.withLock { state in
            defer { state.failing = state.failing.map { $0 - 1 } }
            return (state.since, state.failing == 0)
        }
        guard let since else { return try await engine.write(body) }
        // After a clash the body runs again; what is returned is of the run that has committed.
        let (result, commit) = try await engine.write { connection in
            let before = try RowState(connection, since: since)
            let (result, topics) = try body(connection)
            let commit = try WatchedCommit(from: before, to: RowState(connection, since: since), topics, connection)
            if fails { throw Failure() }
            return ((result, commit), changes: topics)
        }
        state.withLock { $0.commits.append(commit) }
        return result
    }

    func exclusively<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await engine.exclusively(body)
    }

    func takesTurn(at work: String, for turn: Seconds) async throws -> Bool {
        try await engine.takesTurn(at: work, for: turn)
    }
}

extension WatchedCommit {
    fileprivate init(
        from before: RowState, to after: RowState, _ topics: [ChangeTopic], _ connection: any SQLConnection
    ) throws {
        let events = SQLStatement(
            """
            SELECT kind, actor, client_id, user_id, enrollment_id, challenge_id, detail FROM audit WHERE sequence > $1
            ORDER BY sequence
            """)
        let messages = SQLStatement("SELECT id, kind, client_id, payload FROM outbox WHERE id = $1")
        self.init(
            before: before, after: after,
            events: try connection.rows(events, [.integer(before.lastEvent)]).map { row in
                EventRow(
                    kind: try row.text(0), actor: try row.text(1), client: try row.optionalText(2),
                    user: try row.optionalText(3), enrollment: try row.optionalText(4),
                    challenge: try row.optionalText(5), detail: try row.text(6))
            },
            messages: try after.outbox.keys.filter { before.outbox[$0] == nil }.sorted().flatMap { id in
                try connection.rows(messages, [.text(id)]).map { row in
                    MessageRow(id: id, kind: try row.text(1), client: try row.text(2), payload: try row.blob(3))
                }
            }, topics: topics)
    }
}
