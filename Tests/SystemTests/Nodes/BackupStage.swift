import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// A server on its own PostgreSQL database, and a relying party with a user and a phone.
struct BackupStage {
    let postgres: PostgresServer
    let keeper: ServerKeeper
    let shop: TerminalShop
    let folder: TemporaryFolder
    var admin: Operator

    /// Runs a body with a new fixture, and stops the server afterwards.
    static func playing(_ body: (BackupStage) async throws -> Void) async throws {
        let postgres = try PostgresServer()
        try postgres.sql("CREATE DATABASE countersign", in: "postgres")
        let folder = try TemporaryFolder()
        let keeper = try ServerKeeper(
            folder: folder, port: FreePort.next(), arguments: ["--database", postgres.address()])
        try await keeper.start()
        let result = await Result {
            let token = try String(contentsOfFile: "\(keeper.data)/bootstrap.token", encoding: .utf8)
            let shop = try await TerminalShop(
                at: keeper.url, operatedBy: token.trimmingCharacters(in: .whitespacesAndNewlines),
                phone: folder.path("phone"))
            try await body(
                BackupStage(
                    postgres: postgres, keeper: keeper, shop: shop, folder: folder,
                    admin: Operator(database: postgres.address(), data: keeper.data)))
        }
        try await keeper.stop()
        try result.get()
    }

    /// The path of a file in the fixture's folder.
    func path(_ name: String) -> String { folder.path(name) }

    /// The names of the files in the fixture's folder.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path) }
    }

    /// The rows in a backup, in the format of `COPY`.
    func rows(in copy: String) async throws -> Set<Substring> {
        let program = try #require(Program.path(of: "pg_restore"))
        let result = try await RunningProgram.run(program, ["--data-only", "--file=-", copy])
        #expect(result.status == 0, "\(result.errors)")
        return Set(result.output.split(separator: "\n").filter { $0.contains("\t") })
    }
}
