import CPostgreSQL
import CountersignCore
import Encodings
import Foundation

/// A connection to PostgreSQL, used by one thread at a time.
///
/// It uses libpq's pipeline mode: a statement whose result is not needed is sent together with the next statement whose
/// result is. See PostgreSQL, *34.5. Pipeline Mode*.
final class PostgresConnection: SQLConnection {
    /// A command that was sent and whose result was not read yet.
    private struct Sent {
        enum Command {
            case preparation(SQLStatement)
            case statement
            /// The end of a batch; after a failure, the server skips all commands up to here.
            case end
        }

        let command: Command
        /// Whether a failure of the command is ignored.
        var isAbandoned = false
    }

    /// The server's settings for every connection.
    ///
    /// Every statement of ours finds few rows by an index, but the planner might choose another plan for a table that
    /// it believes to be small. The same statements run again and again, so they use generic plans, which are made only
    /// once.
    private static let settings = SQLStatement(
        """
        SELECT set_config('enable_seqscan', 'off', false), set_config('enable_mergejoin', 'off', false),
        set_config('enable_hashjoin', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
        set_config('jit', 'off', false), set_config('statement_timeout', '10000', false),
        set_config('idle_in_transaction_session_timeout', '20000', false),
        set_config('default_transaction_isolation', 'read committed', false)
        """)

    let handle: OpaquePointer
    /// How long to wait for a reply.
    private let patience: Duration
    private let notices = PostgresNotices()
    private var names: [SQLStatement: String] = [:]
    private var sent: [Sent] = []
    /// Whether the connection itself has not failed yet.
    private(set) var isUsable = true
    /// Whether a statement that may change rows was sent since ``begin(_:)``.
    private(set) var hasWritten = false
    private(set) var hasNumber = false
    /// The last statement whose result is not needed, until the next one: the row of `commits` can go with it.
    private var last: (statement: SQLStatement, arguments: PostgresArguments)?
    /// The statements that insert such a row, by the statement that each goes with.
    private var withCommits: [SQLStatement: SQLStatement] = [:]

    /// Connects.
    ///
    /// Parameters that the address lacks come from libpq's environment variables and files, including passwords and TLS
    /// settings.
    ///
    /// - Parameters:
    ///   - address: the address.
    ///   - overriding: parameters that replace those of the address.
    ///   - patience: how long to wait for a reply; longer than the server's `statement_timeout`.
    /// - Throws: ``PostgresFailure``.
    init(
        to address: PostgresAddress, overriding: [(String, String)] = [], patience: Duration = .seconds(15)
    ) throws(PostgresFailure) {
        self.patience = patience
        PostgresTLS.stayUp
        // The address can override the parameters before `dbname`.
        let parameters =
            [
                ("application_name", "countersign"), ("connect_timeout", "5"), ("keepalives_idle", "10"),
                ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "15000"),
                ("dbname", address.text.reveal()), ("client_encoding", "UTF8"),
            ] + overriding
        let connection = withCStrings(parameters.map(\.0)) { keywords in
            withCStrings(parameters.map(\.1)) { values in PQconnectdbParams(keywords + [nil], values + [nil], 1) }
        }
        guard let connection else { throw PostgresFailure(state: nil, message: "out of memory") }
        handle = connection
        guard PQstatus(handle) == CONNECTION_OK else {
            // `deinit` closes the connection.
            throw PostgresFailure(state: nil, message: lastMessage)
        }
        notices.listen(to: handle)
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw broken() }
        try send(Self.settings, PostgresArguments())
        _ = try receive()
    }

    deinit { PQfinish(handle) }

    private var lastMessage: String {
        let lines = String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
        return lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
    }

    func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow] {
        try send(statement, try PostgresArguments(arguments))
        return try receive().rows
    }

    func rows(_ statement: SQLStatement, each arguments: [[SQLValue]]) throws -> [[SQLRow]] {
        guard !arguments.isEmpty else { return [] }
        for arguments in arguments { try send(statement, try PostgresArguments(arguments)) }
        return try receiveAll().suffix(arguments.count).map(\.rows)
    }

    /// Runs a statement and waits for the number of rows that it changed.
    ///
    /// A statement whose number decides something is never sent together with what depends on it: that is sent when the
    /// number is known.
    @discardableResult
    func execute(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> Int {
        try send(statement, try PostgresArguments(arguments))
        return try receive().changes
    }

    func send(_ statement: SQLStatement, _ arguments: [SQLValue]) throws {
        let arguments = try PostgresArguments(arguments)
        try sendLast()
        last = (statement, arguments)
        note(statement)
    }

    /// Inserts a row into `commits`, in one statement with the last change where there is one.
    func leaveCommit(_ values: [SQLValue]) throws {
        guard let change = last, change.statement.mayWrite else {
            return try send(PostgresCommits.leave, values)
        }
        last = nil
        var arguments = change.arguments
        let both = withCommits[change.statement] ?? PostgresCommits.leave(with: change.statement, arguments.count)
        withCommits[change.statement] = both
        try arguments.append(values)
        try send(both, arguments)
    }

    private func sendLast() throws(PostgresFailure) {
        guard let (statement, arguments) = last else { return }
        last = nil
        try send(statement, arguments)
    }

    /// Runs statements without arguments and ignores their results.
    func run(_ statements: [SQLStatement]) throws(PostgresFailure) {
        for statement in statements {
            try send(statement, PostgresArguments())
            _ = try receive()
        }
    }

    /// Begins a transaction; the statement is sent together with the first one whose result is needed.
    func begin(_ statement: SQLStatement) throws(PostgresFailure) {
        last = nil
        try send(statement, PostgresArguments())
        hasWritten = false
        hasNumber = false
    }

    /// Ends a transaction that changed nothing or must not change anything, without waiting for the result.
    func abandon(by statement: SQLStatement) throws(PostgresFailure) {
        last = nil
        // After a failure the server skips commands up to the end of the batch, and must not skip this one.
        if !sent.isEmpty { try endBatch() }
        try send(statement, PostgresArguments())
        try endBatch()
        for index in sent.indices { sent[index].isAbandoned = true }
        _ = PQflush(handle)
    }

    /// Commits, and returns when the commit is durable.
    ///
    /// - Throws: ``PostgresFailure``; without a code when it is unknown whether the transaction was committed.
    func commit(_ statement: SQLStatement) throws(PostgresFailure) {
        _ = notices.takeWarning
        try send(statement, PostgresArguments())
        // COMMIT of a failed transaction rolls back and still succeeds; only its command tag differs.
        guard try receive().command == "COMMIT" else {
            throw PostgresFailure(state: "25P02", message: "the transaction had failed before")
        }
        if notices.takeWarning { throw broken("the server warned that the commit may not last") }
    }

    private func send(_ statement: SQLStatement, _ arguments: PostgresArguments) throws(PostgresFailure) {
        try sendLast()
        StatementCount.note()
        let name: String
        if let known = names[statement] {
            name = known
        } else {
            name = "s\(names.count)"
            guard PQsendPrepare(handle, name, statement.text, 0, nil) == 1 else { throw broken() }
            names[statement] = name
            sent.append(Sent(command: .preparation(statement)))
        }
        let isSent = arguments.send { count, values, lengths, formats in
            PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw broken() }
        sent.append(Sent(command: .statement))
        note(statement)
    }

    private func note(_ statement: SQLStatement) {
        if statement.mayWrite { hasWritten = true }
        if statement.alwaysWrites { hasNumber = true }
    }

    private func endBatch() throws(PostgresFailure) {
        guard PQpipelineSync(handle) == 1 else { throw broken() }
        sent.append(Sent(command: .end))
    }

    /// Waits for the results of all commands sent, and returns the last.
    ///
    /// - Throws: the first failure.
    private func receive() throws(PostgresFailure) -> PostgresResult {
        try receiveAll().last ?? PostgresResult()
    }

    /// Waits for the results of all commands sent.
    ///
    /// - Throws: the first failure.
    private func receiveAll() throws(PostgresFailure) -> [PostgresResult] {
        try endBatch()
        let expected = sent
        sent = []
        let deadline = ContinuousClock.now + patience
        var results: [PostgresResult] = []
        var failure: PostgresFailure?
        for expectation in expected {
            do throws(PostgresFailure) {
                if let result = try result(of: expectation.command, until: deadline) { results.append(result) }
            } catch {
                if case .preparation(let statement) = expectation.command { names[statement] = nil }
                if !isUsable { throw error }
                if failure == nil, !expectation.isAbandoned { failure = error }
            }
        }
        if let failure { throw failure }
        return results
    }

    /// The result of a command; nil for a preparation and for the end of a batch.
    private func result(
        of command: Sent.Command, until deadline: ContinuousClock.Instant
    ) throws(PostgresFailure) -> PostgresResult? {
        guard let result = try next(until: deadline) else { throw broken("a result is missing") }
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        if case .end = command {
            guard status == PGRES_PIPELINE_SYNC else { throw broken("the end of a batch is missing") }
            return nil
        }
        // Each command's results end with a null result.
        while let another = try next(until: deadline) { PQclear(another) }
        switch status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            if case .preparation = command { return nil }
            return PostgresResult(result)
        case PGRES_PIPELINE_ABORTED:
            throw PostgresFailure(state: "25P02", message: "skipped after a failure")
        default:
            let failure = PostgresFailure(result)
            if failure.isConnectionLost { isUsable = false }
            throw failure
        }
    }

    private func next(until deadline: ContinuousClock.Instant) throws(PostgresFailure) -> OpaquePointer? {
        while true {
            let flushed = PQflush(handle)
            guard flushed >= 0 else { throw broken() }
            if PQisBusy(handle) == 0 { return PQgetResult(handle) }
            guard isReady(toWrite: flushed == 1, until: deadline) else { throw broken("no reply in time") }
            guard PQconsumeInput(handle) == 1 else { throw broken() }
        }
    }

    /// Waits for the socket; false at the deadline or when waiting failed.
    private func isReady(toWrite isWriting: Bool, until deadline: ContinuousClock.Instant) -> Bool {
        var entry = pollfd()
        entry.fd = PQsocket(handle)
        entry.events = Int16(POLLIN) | Int16(isWriting ? POLLOUT : 0)
        while true {
            let left = (deadline - .now).components
            guard left.seconds >= 0, left.attoseconds >= 0 else { return false }
            let count = poll(&entry, 1, Int32(left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000) + 1)
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }

    private func broken(_ reason: String? = nil) -> PostgresFailure {
        isUsable = false
        return PostgresFailure(state: nil, message: reason ?? lastMessage)
    }
}

/// What a connection offers besides running statements.
extension PostgresConnection {
    /// The file descriptor to wait for notifications on.
    var socket: Int32 { PQsocket(handle) }

    /// Checks whether the server has closed the connection since the last statement.
    ///
    /// It is better to find out before sending: otherwise it would be unknown whether a statement was executed.
    func checkForEnd() {
        var entry = pollfd()
        entry.fd = socket
        entry.events = Int16(POLLIN)
        // There may be data to read first.
        for _ in 0..<3 {
            if poll(&entry, 1, 0) == 0 { return }
            if PQconsumeInput(handle) == 0 { isUsable = false }
        }
    }

    /// Discards the received notifications.
    ///
    /// - Returns: whether another connection has sent one.
    func takeNotifications() throws(PostgresFailure) -> Bool {
        guard PQconsumeInput(handle) == 1 else { throw broken() }
        var isFromAnother = false
        while let notification = PQnotifies(handle) {
            if notification.pointee.be_pid != PQbackendPID(handle) { isFromAnother = true }
            PQfreemem(notification)
        }
        return isFromAnother
    }
}

private func withCStrings<Result>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) })
}
