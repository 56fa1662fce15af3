import CountersignWire
import StorageTestSupport

/// Copies rows under other ids: the time in each id changes, the random part stays.
enum Copies {
    struct Table {
        let name: String
        /// The columns with ids of users, enrollments and challenges.
        let ids: [String]
        /// The columns that are copied unchanged.
        let others: [String]
        /// The column that must be unique and that no other table refers to.
        var unique: String?

        /// The statement that copies all model rows; its argument is the mark of the copy.
        func copy(on engine: Engine) -> String {
            let columns = ids + others + [unique].compactMap { $0 }
            var values = ids.map { "substr(\($0), 1, 4) || $1 || substr(\($0), 15)" } + others
            switch (unique, engine) {
            case ("fingerprint", .sqlite): values.append("randomblob(20)")
            case ("fingerprint", .postgresql): values.append("decode(md5(random()::text || id || $1), 'hex')")
            case (let column?, _): values.append("\(column) || $1")
            case (nil, _): break
            }
            return """
                INSERT INTO \(name) (\(columns.joined(separator: ", ")))
                SELECT \(values.joined(separator: ", ")) FROM model_\(name)
                """
        }
    }

    /// The tables, in the order of their references.
    static let tables = [
        Table(name: "users", ids: ["id"], others: ["created_at", "deleted_at"]),
        Table(name: "user_links", ids: ["user_id"], others: ["client_id"], unique: "external_id"),
        Table(
            name: "enrollments", ids: ["id", "user_id"],
            others: [
                "client_id", "removed_at", "removal_reason", "primary_key", "authentication_key", "encryption_key",
                "certificate", "device", "created_at", "counts_from", "methods_count", "versions",
            ], unique: "fingerprint"),
        Table(
            name: "challenges", ids: ["id", "user_id", "decided_by"],
            others: [
                "client_id", "client_name", "type", "nonce", "context", "asked_at", "details", "signing_data",
                "message", "alert", "methods", "number_hash", "expires_at", "channel", "purpose", "callback_uri",
                "client_state", "locale", "state", "reason", "method", "ended_at",
            ]),
        Table(name: "challenge_targets", ids: ["challenge_id", "enrollment_id"], others: ["fetched_at"]),
        Table(
            name: "receipts", ids: ["challenge_id", "enrollment_id"],
            others: ["text", "signature", "certificate", "accepted_at", "client_id"]),
        Table(
            name: "audit", ids: ["user_id", "enrollment_id", "challenge_id"],
            others: ["id", "at", "kind", "actor", "client_id", "detail"]),
    ]

    /// The 10 characters of an id that represent a time.
    static func mark(of time: Timestamp) -> String {
        String("\(UserID(at: time, random: [UInt8](repeating: 0, count: 10)))".dropFirst(4).prefix(10))
    }

    /// The id that a model's id became in the copy for a time.
    static func id<Kind>(_ id: ID<Kind>, at time: Timestamp) throws -> ID<Kind> {
        let text = "\(id)"
        guard let copy = ID<Kind>("\(text.prefix(4))\(mark(of: time))\(text.dropFirst(14))") else {
            throw World.Broken("copied id")
        }
        return copy
    }
}
