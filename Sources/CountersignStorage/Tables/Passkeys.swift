import CountersignCore
import CountersignWire
import WebAuthn

private enum Statements {
    private static let columns = """
        id, user_id, credential, public_key, transports, backup_eligible, backed_up, sign_count, name, created_at,
        counts_from, confirmed, used_at, removed_until
        """
    static let byCredential = SQLStatement(
        "SELECT \(columns) FROM passkeys WHERE credential = $1 AND removed_until IS NULL")
    /// Two sign-ins with one passkey write to it one after the other.
    static let byCredentialLocked = SQLStatement("\(byCredential.text) FOR UPDATE")
    static let byID = SQLStatement("SELECT \(columns) FROM passkeys WHERE id = $1 AND removed_until IS NULL")
    static let byIDLocked = SQLStatement("\(byID.text) FOR SHARE")
    static let ofUser = SQLStatement("SELECT \(columns) FROM passkeys WHERE user_id = $1 ORDER BY id")
    static let insert = SQLStatement(
        """
        INSERT INTO passkeys (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        ON CONFLICT DO NOTHING
        """)
    static let rename = SQLStatement("UPDATE passkeys SET name = $2 WHERE id = $1")
    static let use = SQLStatement("UPDATE passkeys SET sign_count = $2, backed_up = $3, used_at = $4 WHERE id = $1")
    static let remove = SQLStatement("UPDATE passkeys SET removed_until = $2 WHERE id = $1")
    static let unconfirm = SQLStatement("UPDATE passkeys SET confirmed = 0 WHERE user_id = $1")
    static let deleteAll = SQLStatement("DELETE FROM passkeys WHERE user_id = $1")
}

/// The passkeys of users.
extension SQLTransaction {
    func find(_ credential: CredentialID) throws -> RegisteredPasskey? {
        try first(
            locksRows ? Statements.byCredentialLocked : Statements.byCredential, [.blob(credential.bytes)],
            Self.passkey)
    }

    func find(_ id: PasskeyID) throws -> RegisteredPasskey? {
        try first(locksRows ? Statements.byIDLocked : Statements.byID, [id.value], Self.passkey)
    }

    func passkeys(of user: UserID) throws -> [RegisteredPasskey] {
        try all(Statements.ofUser, [user.value], Self.passkey)
    }

    func insert(_ passkey: RegisteredPasskey) throws -> Bool {
        try connection.execute(
            Statements.insert,
            [
                passkey.id.value, passkey.user.value, .blob(passkey.credential.bytes), .blob(passkey.publicKey.cose),
                .text(passkey.transports.joined(separator: " ")), .integer(passkey.isBackupEligible ? 1 : 0),
                .integer(passkey.isBackedUp ? 1 : 0), .integer(Int64(passkey.signCount)), .text(passkey.name.text),
                passkey.createdAt.value, passkey.countsFrom.value, .integer(passkey.isConfirmed ? 1 : 0),
                .optional(passkey.usedAt?.milliseconds), .optional(passkey.removedUntil?.milliseconds),
            ]) == 1
    }

    func rename(_ id: PasskeyID, _ name: DisplayLine) throws {
        try connection.send(Statements.rename, [id.value, .text(name.text)])
    }

    func unconfirm(of user: UserID) throws { try connection.send(Statements.unconfirm, [user.value]) }

    func use(_ id: PasskeyID, signCount: UInt32, isBackedUp: Bool, at time: Timestamp) throws {
        try connection.send(
            Statements.use, [id.value, .integer(Int64(signCount)), .integer(isBackedUp ? 1 : 0), time.value])
    }

    func remove(_ id: PasskeyID, until time: Timestamp) throws {
        try connection.send(Statements.remove, [id.value, time.value])
    }

    func deletePasskeys(of user: UserID) throws { try connection.send(Statements.deleteAll, [user.value]) }

    private static func passkey(_ row: SQLRow) throws -> RegisteredPasskey {
        guard let credential = try? CredentialID(try row.blob(2)),
            let key = try? CredentialPublicKey(cose: try row.blob(3))
        else { throw StoreError.corruptRow("passkey") }
        return RegisteredPasskey(
            id: try row.id(0), user: try row.id(1), credential: credential, publicKey: key,
            transports: try row.text(4).split(separator: " ").map(String.init),
            isBackupEligible: try row.integer(5) == 1, isBackedUp: try row.integer(6) == 1,
            signCount: UInt32(clamping: try row.integer(7)), name: try row.value(8) { try? DisplayLine($0) },
            createdAt: try row.time(9), countsFrom: try row.time(10), isConfirmed: try row.integer(11) == 1,
            usedAt: try row.optionalTime(12), removedUntil: try row.optionalTime(13))
    }
}
