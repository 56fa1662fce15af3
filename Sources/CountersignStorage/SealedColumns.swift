import CountersignCore
import CountersignWire

/// A column of sealed values, and how the associated data of a value follows from its row.
package struct SealedColumn: Sendable {
    package let table: String
    package let column: String
    /// The columns of the table's primary key.
    let key: [String]
    /// The associated data that the value of a row is sealed with.
    let place: @Sendable (SQLRow) throws -> String

    private init(
        _ table: String, _ column: String, key: String..., place: @escaping @Sendable (SQLRow) throws -> String
    ) {
        self.table = table
        self.column = column
        self.key = key
        self.place = place
    }

    /// All sealed columns, except the wrapped keys.
    package static let all = [
        SealedColumn("secrets", "sealed", key: "name") { try $0.text(0) },
        SealedColumn("signing_keys", "sealed", key: "id") { IssuerKey.place(try $0.text(0)) },
        SealedColumn("clients", "callback_secret", key: "id") { SealedText.callbackSecret.place(try $0.text(0)) },
        SealedColumn("clients", "earlier_callback_secret", key: "id") {
            SealedText.callbackSecret.place(try $0.text(0))
        },
        SealedColumn("clients", "callback_password", key: "id") { SealedText.callbackPassword.place(try $0.text(0)) },
        SealedColumn("provider_tokens", "sealed", key: "name") { SQLStore.place(try $0.text(0)) },
        SealedColumn("enrollments", "push_token", key: "id") { PushTarget.place(try $0.text(0)) },
        SealedColumn("answers", "custom", key: "enrollment_id", "digest") {
            CustomReply.place(try $0.text(0), MessageDigest(stored: try $0.blob(1)))
        },
        SealedColumn("authorizations", "wanted", key: "id") { Authorization.place(try $0.text(0)) },
        SealedColumn("authorizations", "ask_number", key: "id") { Authorization.numberPlace(try $0.text(0)) },
        SealedColumn("sessions", "place", key: "id") { Session.place(try $0.text(0)) },
        SealedColumn("identifiers", "sealed", key: "id") { VerifiedIdentifier.place(try $0.text(0)) },
        SealedColumn("user_links", "claims", key: "client_id", "user_id") {
            UserClaims.place(try $0.text(0), try $0.text(1))
        },
        SealedColumn("replies", "body", key: "scope", "key") {
            IdempotencyKey.place(scope: try $0.text(0), key: try $0.text(1))
        },
        SealedColumn("outbox", "payload", key: "id") { OutboxMessage.place(try $0.text(0)) },
    ]

    /// Selects the next rows after a primary key that hold a value: the columns of the primary key, then the value.
    func rows(after place: [SQLValue]?, limit: Int) -> (SQLStatement, [SQLValue]) {
        let columns = key.joined(separator: ", ")
        var conditions = ["\(column) IS NOT NULL"]
        if table == "secrets" { conditions.append("name NOT LIKE 'data key %'") }
        let last = place ?? []
        if place != nil {
            let values = (1...key.count).map { "$\($0)" }.joined(separator: ", ")
            conditions.append("(\(columns)) > (\(values))")
        }
        let text = """
            SELECT \(columns), \(column) FROM \(table) WHERE \(conditions.joined(separator: " AND "))
            ORDER BY \(columns) LIMIT $\(last.count + 1)
            """
        return (SQLStatement(text), last + [.integer(Int64(limit))])
    }

    /// Replaces a value unless it has changed; its arguments are the primary key, the old value and the new value.
    var replacement: SQLStatement {
        let names = key.enumerated().map { "\($1) = $\($0 + 1)" }.joined(separator: " AND ")
        return SQLStatement(
            "UPDATE \(table) SET \(column) = $\(key.count + 2) WHERE \(names) AND \(column) = $\(key.count + 1)")
    }
}
