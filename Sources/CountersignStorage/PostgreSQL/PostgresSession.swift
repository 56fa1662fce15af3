import CountersignCore

/// Refuses a connection pooler that gives a client another session for each transaction, such as PgBouncer in
/// transaction mode.
///
/// The engine needs sessions of its own: its settings, prepared statements, locks and notifications are the session's.
/// PgBouncer in session mode keeps them.
enum PostgresSession {
    private static let set = SQLStatement("SELECT set_config('countersign.session', $1, false)")
    private static let get = SQLStatement("SELECT coalesce(current_setting('countersign.session', true), '')")
    private static let begin = SQLStatement("BEGIN READ ONLY")
    private static let touch = SQLStatement("SELECT 1")
    private static let rollback = SQLStatement("ROLLBACK")

    /// Checks that a connection keeps its session while another one is used.
    ///
    /// - Throws: ``PostgresEngine/Unreachable`` if it does not.
    static func check(_ connection: PostgresConnection, at address: PostgresAddress) throws {
        // A pooler gives the session that was used last to whoever comes next.
        let other = try PostgresConnection(to: address)
        try check(connection) {
            try other.begin(begin)
            _ = try other.rows(touch, [])
        }
        try other.abandon(by: rollback)
    }

    /// Checks that a connection keeps its session while something else happens.
    static func check(_ connection: PostgresConnection, during other: () throws -> Void) throws {
        let mark = "\(UInt64.random(in: 0...(.max)))"
        _ = try connection.rows(set, [.text(mark)])
        try other()
        guard try connection.rows(get, []).first?.text(0) == mark else { throw pooled }
    }

    /// The session is not the connection's own.
    private static let pooled = PostgresEngine.Unreachable(
        reason: "a connection pooler gives each transaction another session. Set it to session mode (PgBouncer: "
            + "pool_mode = session), or name the database's own address")

    /// What an operator is told of a failure at the start.
    static func explanation(of failure: PostgresFailure) -> PostgresEngine.Unreachable {
        // A prepared statement exists that this connection has not prepared, or one that it has prepared does not.
        if ["42P05", "26000"].contains(failure.state) { return pooled }
        return PostgresEngine.Unreachable(reason: failure.message)
    }
}
