import CountersignCore
import CountersignWire

private enum Statements {
    static let columns = "user_id, client_id, challenge_id, since"
    static let exists = SQLStatement("SELECT 1 FROM asking_locks WHERE user_id = $1 AND client_id = $2")
    /// Every id comes after the empty text, so the first page starts from it.
    static let list = SQLStatement(
        "SELECT \(columns) FROM asking_locks WHERE challenge_id > $1 ORDER BY challenge_id LIMIT $2")
    static let insert = SQLStatement(
        "INSERT INTO asking_locks (\(columns)) VALUES ($1, $2, $3, $4) ON CONFLICT (user_id, client_id) DO NOTHING")
    static let end = SQLStatement("DELETE FROM asking_locks WHERE challenge_id = $1 RETURNING \(columns)")
}

/// Which clients may not ask which users.
extension SQLTransaction {
    func exists(of user: UserID, by client: ClientID) throws -> Bool {
        try first(Statements.exists, [user.value, client.value]) { _ in true } ?? false
    }

    func list(after id: ChallengeID?, limit: Int) throws -> [AskingLock] {
        try all(Statements.list, [.text(id.map { "\($0)" } ?? ""), .integer(Int64(limit))], AskingLock.init)
    }

    func put(_ lock: AskingLock) throws {
        try connection.send(
            Statements.insert, [lock.user.value, lock.client.value, lock.challenge.value, lock.since.value])
    }

    func end(of challenge: ChallengeID) throws -> AskingLock? {
        try first(Statements.end, [challenge.value], AskingLock.init)
    }
}

extension AskingLock {
    fileprivate init(_ row: SQLRow) throws {
        self.init(user: try row.id(0), client: try row.id(1), challenge: try row.id(2), since: try row.time(3))
    }
}
