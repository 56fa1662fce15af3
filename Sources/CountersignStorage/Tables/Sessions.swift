import CountersignCore
import CountersignWire
import Encodings

private enum Statements {
    private static let columns = "id, secret_hash, authentication, created_at, idle_until, expires_at, place"
    static let ofUser = SQLStatement(
        "SELECT \(columns) FROM sessions WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY id")
    static let bySecret = SQLStatement(
        "SELECT \(columns) FROM sessions WHERE secret_hash = $1 AND ended_at IS NULL AND expires_at > $2")
    static let byID = SQLStatement(
        "SELECT \(columns) FROM sessions WHERE id = $1 AND ended_at IS NULL AND expires_at > $2")
    static let isOpen = SQLStatement(
        "SELECT 1 FROM sessions WHERE id = $1 AND ended_at IS NULL AND expires_at > $2 AND idle_until > $2")
    static let insert = SQLStatement(
        """
        INSERT INTO sessions
          (id, secret_hash, user_id, enrollment_id, authentication, created_at, idle_until, expires_at, place)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """)
    static let renew = SQLStatement(
        """
        UPDATE sessions
        SET secret_hash = $2, user_id = $3, enrollment_id = $4, authentication = $5, created_at = $6, idle_until = $7,
          expires_at = $8, place = $9
        WHERE id = $1 AND ended_at IS NULL
        """)
    static let use = SQLStatement("UPDATE sessions SET idle_until = $2 WHERE id = $1 AND ended_at IS NULL")
    static let end = SQLStatement("UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL")
    static let endOfDevice = SQLStatement(
        "UPDATE sessions SET ended_at = $3 WHERE user_id = $1 AND enrollment_id = $2 AND ended_at IS NULL")
    static let deleteClients = SQLStatement(
        "DELETE FROM session_clients WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $1)")
    static let deleteAll = SQLStatement("DELETE FROM sessions WHERE user_id = $1")
    static let sid = SQLStatement("SELECT sid FROM session_clients WHERE session_id = $1 AND client_id = $2")
    /// Whoever takes the name away meanwhile waits: the client learns it, and is then told of its end.
    static let heldSid = SQLStatement("\(sid.text) FOR SHARE")
    static let takeNames = SQLStatement(
        "DELETE FROM session_clients WHERE session_id = $1 RETURNING client_id, sid")
    static let takeNamesOfUser = SQLStatement(
        """
        DELETE FROM session_clients
        WHERE client_id = $2 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1 AND expires_at > $3)
        RETURNING sid
        """)
    static let takeName = SQLStatement(
        "DELETE FROM session_clients WHERE session_id = $1 AND client_id = $2 AND sid = $3")
    static let makeSid = SQLStatement(
        """
        INSERT INTO session_clients (session_id, client_id, sid) VALUES ($1, $2, $3)
        ON CONFLICT (session_id, client_id) DO UPDATE SET sid = session_clients.sid RETURNING sid
        """)
}

/// Sessions, and the clients that take part in them.
extension SQLTransaction {
    func lasting(_ secret: SecretHash, at time: Timestamp) throws -> Session? {
        try first(Statements.bySecret, [.blob(secret.bytes), time.value], session)
    }

    func lasting(_ session: SessionID, at time: Timestamp) throws -> Session? {
        try first(Statements.byID, [session.value, time.value], self.session)
    }

    func isOpen(_ session: SessionID, at time: Timestamp) throws -> Bool {
        try first(Statements.isOpen, [session.value, time.value]) { _ in true } ?? false
    }

    func lasting(of user: UserID, at time: Timestamp) throws -> [Session] {
        try all(Statements.ofUser, [user.value, time.value], session)
    }

    private func session(_ row: SQLRow) throws -> Session {
        let id: SessionID = try row.id(0)
        let place = try row.optionalBlob(6).flatMap { sealed in
            ContextLine(try JSONValue(parsing: try sealer.open(sealed, for: Session.place(id))))
        }
        return Session(
            id: id, secretHash: SecretHash(stored: try row.blob(1)), authentication: try row.authentication(2),
            place: place, createdAt: try row.time(3), idleUntil: try row.time(4), expiresAt: try row.time(5))
    }

    func insert(_ session: Session) throws {
        try connection.send(Statements.insert, values(of: session))
    }

    func renew(_ session: Session) throws -> Bool {
        try connection.execute(Statements.renew, values(of: session)) == 1
    }

    private func values(of session: Session) throws -> [SQLValue] {
        [
            session.id.value, .blob(session.secretHash.bytes), session.user.value,
            .optional(session.authentication.evidence.enrollment?.description),
            .text(session.authentication.json.text),
            session.createdAt.value, session.idleUntil.value, session.expiresAt.value,
            .optional(try session.place.map { try sealer.seal($0.json.encoded, for: Session.place(session.id)) }),
        ]
    }

    func use(_ session: SessionID, until time: Timestamp) throws {
        try connection.send(Statements.use, [session.value, time.value])
    }

    func end(_ session: SessionID, at time: Timestamp) throws {
        try connection.send(Statements.end, [session.value, time.value])
    }

    func endAll(of user: UserID, by enrollment: EnrollmentID, at time: Timestamp) throws {
        try connection.send(Statements.endOfDevice, [user.value, enrollment.value, time.value])
    }

    func deleteSessions(of user: UserID) throws {
        try connection.send(Statements.deleteClients, [user.value])
        try connection.send(Statements.deleteAll, [user.value])
    }

    func sid(of session: SessionID, for client: ClientID) throws -> String? {
        try first(Statements.sid, [session.value, client.value]) { try $0.text(0) }
    }

    func takeNames(of session: SessionID) throws -> [SessionName] {
        try all(Statements.takeNames, [session.value]) { SessionName(client: try $0.id(0), sid: try $0.text(1)) }
            .sorted { $0.client < $1.client }
    }

    func takeNames(of user: UserID, for client: ClientID, at time: Timestamp) throws -> [SessionName] {
        try all(Statements.takeNamesOfUser, [user.value, client.value, time.value]) { try $0.text(0) }
            .sorted().map { SessionName(client: client, sid: $0) }
    }

    func take(_ sid: String, of session: SessionID, for client: ClientID) throws -> Bool {
        try connection.execute(Statements.takeName, [session.value, client.value, .text(sid)]) == 1
    }

    func sid(of session: SessionID, for client: ClientID, new: String) throws -> String {
        let known = locksRows ? Statements.heldSid : Statements.sid
        if let sid = try first(known, [session.value, client.value], { try $0.text(0) }) { return sid }
        let sid = try first(Statements.makeSid, [session.value, client.value, .text(new)]) { try $0.text(0) }
        guard let sid else { throw StoreError.corruptRow("session client") }
        return sid
    }
}

extension Session {
    static func place(_ id: some CustomStringConvertible) -> String { "session place \(id)" }
}
