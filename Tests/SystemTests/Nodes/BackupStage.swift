import Encodings
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// A server on a PostgreSQL database of its own, with a relying party that has a user with a phone.
struct BackupStage {
    let postgres: PostgresServer
    let keeper: ServerKeeper
    let shop: TerminalShop
    let folder: TemporaryFolder
    var admin: Operator

    /// Plays something and ends the server.
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

    /// Where a file of the stage's folder is.
    func path(_ name: String) -> String { folder.path(name) }

    /// What is in the stage's folder.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path) }
    }

    /// The rows in a copy, as `COPY` has them.
    func rows(in copy: String) async throws -> Set<Substring> {
        let program = try #require(Program.path(of: "pg_restore"))
        let result = try await RunningProgram.run(program, ["--data-only", "--file=-", copy])
        #expect(result.status == 0, "\(result.errors)")
        return Set(result.output.split(separator: "\n").filter { $0.contains("\t") })
    }
}
