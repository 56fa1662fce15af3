/// A temporary database into which a backup is restored for a test.
struct PostgresTrial {
    private let name: String
    private let address: PostgresAddress
    private let connection: PostgresConnection
    private let drop: PostgresProgram

    /// Creates the database on the server that a connection leads to.
    init(at address: PostgresAddress, beside connection: PostgresConnection) throws(BackupFailure) {
        self.address = address
        self.connection = connection
        name = "countersign_try_\(UInt32.random(in: 0...(.max)))"
        drop = try PostgresProgram("dropdb", for: connection)
        try PostgresProgram("createdb", for: connection).run(
            ["--template=template0", "--encoding=UTF8", "--no-password", maintenance, name])
    }

    private var maintenance: String { "--maintenance-db=\(connection.database)" }

    /// Restores a backup, and compares the row count of each table with the source.
    func run(_ file: String, by restore: PostgresProgram, against rows: PostgresRows) throws {
        try restore.run(
            ["--no-owner", "--no-privileges", "--exit-on-error", "--no-password", "--dbname=\(name)", file])
        let restored = try PostgresConnection(
            to: address, overriding: connection.place + [("dbname", name)], patience: .seconds(86_400))
        try restored.beginSnapshot()
        let counts = try PostgresRows(restored).counts
        let differences = Set(rows.counts.keys).union(counts.keys).filter { rows.counts[$0] != counts[$0] }
        guard differences.isEmpty else {
            throw BackupFailure(
                description: "\(file) was restored with other rows in \(differences.sorted().joined(separator: ", ")).")
        }
    }

    /// Drops the database; if that fails, its name shows what it is.
    func end() {
        try? drop.run(["--no-password", "--if-exists", maintenance, name])
    }
}
