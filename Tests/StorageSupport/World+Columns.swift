import CountersignStorage

extension World {
    /// The columns of all tables, by table.
    package func columns() async throws -> [String: [String]] {
        let statement =
            postgres == nil
            ? """
            SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
            WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
            """
            : "SELECT table_name::text, column_name::text FROM information_schema.columns "
                + "WHERE table_schema = current_schema()"
        let rows = try await sql(statement).map { (try $0.text(0), try $0.text(1)) }
        return Dictionary(grouping: rows, by: \.0).mapValues { $0.map(\.1) }
    }
}
