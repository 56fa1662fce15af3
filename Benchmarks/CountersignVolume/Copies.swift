import CountersignWire
import StorageTestSupport

/// Copies rows under other ids: the time in each id changes, the random part stays.
enum Copies {
    struct Table {
        let name: String
        /// The columns with ids of users, enrollments and challenges; every other column is copied unchanged.
        let ids: [String]
        /// The column that must be unique and that no other table refers to.
        var unique: String?
        /// The column that the database numbers itself.
        var numbered: String?

        /// The statement that copies all model rows; its argument is the mark of the copy.
        ///
        /// - Parameters:
        ///   - columns: the columns of the table.
        ///   - engine: the database.
        func copy(_ columns: [String], on engine: Engine) -> String {
            let columns = columns.filter { $0 != numbered }
            let values = columns.map { column in
                switch (column, engine) {
                case _ where ids.contains(column): "substr(\(column), 1, 4) || $1 || substr(\(column), 15)"
                case _ where column != unique: column
                case ("fingerprint", .sqlite): "randomblob(20)"
                case ("fingerprint", .postgresql): "decode(md5(random()::text || id || $1), 'hex')"
                default: "\(column) || $1"
                }
            }
            return """
                INSERT INTO \(name) (\(columns.joined(separator: ", ")))
                SELECT \(values.joined(separator: ", ")) FROM model_\(name)
                """
        }
    }

    /// The tables, in the order of their references.
    static let tables = [
        Table(name: "users", ids: ["id"]),
        Table(name: "user_links", ids: ["user_id"], unique: "external_id"),
        Table(name: "enrollments", ids: ["id", "user_id"], unique: "fingerprint"),
        Table(name: "challenges", ids: ["id", "user_id", "decided_by"]),
        Table(name: "challenge_targets", ids: ["challenge_id", "enrollment_id"]),
        Table(name: "receipts", ids: ["challenge_id", "enrollment_id"]),
        Table(name: "audit", ids: ["user_id", "enrollment_id", "challenge_id"], numbered: "sequence"),
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
