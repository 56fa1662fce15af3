import Foundation
import ServerTestSupport
import Testing
import TestSupport

/// The first start creates the master key, the database and the operator's token; the next start completes an
/// interrupted one.
@Suite("A first start that is cut off is made up for by the next")
struct FirstStartTests {
    @Test("A server that dies while it writes the master key starts again")
    func diesWritingTheMasterKey() async throws {
        let folder = try TemporaryFolder()
        let keeper = try ServerKeeper(folder: folder, port: FreePort.next())
        // With a file size limit of zero, the kernel kills the process at its first write, which is that of the key.
        let cutOff = try Program.run(
            "/bin/sh",
            ["-c", "ulimit -f 0; exec \"$0\" serve --port 0 --data \"$1\"", try ServerProcess.program, keeper.data])
        #expect(cutOff.status != 0)
        #expect(!FileManager.default.fileExists(atPath: "\(keeper.data)/countersign.sqlite"))
        try await keeper.start()
        try await keeper.kill()
    }

    @Test("A server that is killed at any moment of its first start starts again, with a token")
    func killedAtAnyMoment() async throws {
        let settings = KillSettings()
        var random = SeededGenerator(seed: settings.seed, of: 2000)
        let log = try TemporaryFolder()
        let errors = try FileHandle(forWritingTo: URL(filePath: try log.write("log", [])))
        for _ in 0..<10 {
            let folder = try TemporaryFolder()
            let keeper = try ServerKeeper(folder: folder, port: FreePort.next())
            let first = try ServerProcess(
                try ServerProcess.program, ["serve", "--port", "0", "--data", keeper.data, "--json"], errors: errors)
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...120, using: &random)))
            await first.end(by: SIGKILL)
            try await keeper.start()
            let token = "\(keeper.data)/bootstrap.token"
            #expect(
                FileManager.default.fileExists(atPath: token), "COUNTERSIGN_SEED=\(settings.seed): there is no token")
            try await keeper.kill()
        }
    }

    @Test("The operator's token is in its file before anything that makes it the only one is on the disk")
    func tokenFirst() async throws {
        let folder = try TemporaryFolder()
        let keeper = try ServerKeeper(folder: folder, port: FreePort.next())
        let obstacle = "\(keeper.data)/bootstrap.token.new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        await #expect(throws: ServerProcess.Unusable.self) { try await keeper.start() }
        try FileManager.default.removeItem(atPath: obstacle)
        let again = try ServerKeeper(folder: folder, port: FreePort.next())
        try await again.start()
        #expect(FileManager.default.fileExists(atPath: "\(keeper.data)/bootstrap.token"))
        try await again.kill()
    }
}
