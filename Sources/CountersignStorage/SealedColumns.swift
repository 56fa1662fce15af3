import CountersignCore

/// A column that holds sealed values, and how a value's place follows from its row.
package struct SealedColumn: Sendable {
    package let table: String
    package let column: String
    /// The columns that name a row, the table's primary key.
    let key: [String]
    /// What the value of a row is sealed for.
    let place: @Sendable (SQLRow) throws -> String

    private init(
        _ table: String, _ column: String, key: String..., place: @escaping @Sendable (SQLRow) throws -> String
    ) {
        self.table = table
        self.column = column
        self.key = key
        self.place = place
    }

    /// All there are, but for the keys' own wraps.
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
            CustomReply.place(try $0.text(0), try $0.blob(1))
        },
        SealedColumn("replies", "body", key: "scope", "key") {
            IdempotencyKey.place(scope: try $0.text(0), key: try $0.text(1))
        },
        SealedColumn("outbox", "payload", key: "id") { OutboxMessage.place(try $0.text(0)) },
    ]

    /// The first rows after a place that hold a value: the key's columns, then the value.
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

    /// Puts another value in the place of one, unless it has changed: the row's key, the one of before, the new one.
    var replacement: SQLStatement {
        let names = key.enumerated().map { "\($1) = $\($0 + 1)" }.joined(separator: " AND ")
        return SQLStatement(
            "UPDATE \(table) SET \(column) = $\(key.count + 2) WHERE \(names) AND \(column) = $\(key.count + 1)")
    }
}
