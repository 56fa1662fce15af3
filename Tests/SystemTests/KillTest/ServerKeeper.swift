import Foundation
import ServerTestSupport
import TestSupport

/// Keeps one server alive on one port and folder, between the kills.
actor ServerKeeper: Served {
    private let program: String
    nonisolated let port: Int
    private let folder: TemporaryFolder
    private let arguments: [String]
    private let watchdog: Watchdog
    private let log: FileHandle
    /// Knows the server's secrets and reads all it says.
    nonisolated let watch = ServerWatch()
    private var running: ServerProcess?
    private var isUp = Occurrence()
    private var failure: ServerProcess.Unusable?
    /// How often the server was killed.
    private(set) var kills = 0
    /// Whose requests the kills cut off.
    nonisolated let flights = Flights()
    /// How long each start took, from the call that makes the process to the line that says it serves.
    private(set) var startTimes: [Duration] = []

    /// A server that is not started yet, with its data in a folder.
    ///
    /// - Parameters:
    ///   - folder: where it keeps its data.
    ///   - port: the port it listens on.
    ///   - arguments: further arguments of `serve`.
    init(folder: TemporaryFolder, port: Int, arguments: [String] = []) throws {
        self.arguments = arguments
        program = try ServerProcess.program
        self.port = port
        self.folder = folder
        watchdog = try Watchdog()
        log = try FileHandle(forWritingTo: URL(filePath: try folder.write("log", [])))
    }

    /// Where it keeps its data.
    nonisolated var data: String { folder.path("data") }
    /// Where it is reached.
    nonisolated var url: String { "http://127.0.0.1:\(port)" }

    /// False: whoever cannot answer here has a fault.
    nonisolated var mayBeUnavailable: Bool { false }

    /// The process it is, while it runs.
    var processID: Int32? { running?.id }

    /// Starts it; returns when it answers requests.
    func start() async throws {
        let begin = ContinuousClock.now
        let server = try ServerProcess(
            program,
            // Portals ask as fast as they can.
            [
                "serve", "--port", "\(port)", "--data", data, "--json", "--limits-code-asks", "1000000",
                "--limits-texts",
                "1000000",
            ] + arguments, errors: log)
        running = server
        try watchdog.watch(server.id)
        guard await server.firstLine() != nil else {
            // Its output has ended; how it ended is known a moment later.
            await server.wait()
            throw fail("the server did not start (\(server.end)): \(lastWords)")
        }
        startTimes.append(ContinuousClock.now - begin)
        isUp.happen()
    }

    /// Kills it; returns when the process is gone.
    func kill() async throws {
        guard let server = running else { return }
        guard !server.hasEnded else { throw fail("the server ended by itself (\(server.end)): \(lastWords)") }
        isUp = Occurrence()
        running = nil
        kills += 1
        flights.noteKill()
        await server.end(by: SIGKILL)
        try watchdog.watch(nil)
    }

    /// Stops it as an operator would; returns when the process is gone.
    func stop() async throws {
        guard let server = running else { return }
        isUp = Occurrence()
        running = nil
        await server.end(by: SIGTERM)
        try watchdog.watch(nil)
    }

    /// Returns when requests are answered.
    func ready() async throws {
        try Task.checkCancellation()
        if let failure { throw failure }
        if let running, running.hasEnded { throw fail("the server ended by itself (\(running.end)): \(lastWords)") }
        await isUp.wait()
        if let failure { throw failure }
    }

    private func fail(_ reason: String) -> ServerProcess.Unusable {
        let failure = ServerProcess.Unusable(description: reason)
        self.failure = failure
        isUp.happen()
        return failure
    }

    /// Every secret that it wrote to standard error or told the wrong one.
    var leaks: [ServerWatch.Leak] {
        get throws {
            for file in ["master.key", "bootstrap.token"]
            where FileManager.default.fileExists(atPath: "\(data)/\(file)") {
                let text = try String(contentsOfFile: "\(data)/\(file)", encoding: .utf8)
                watch.plant(text.trimmingCharacters(in: .whitespacesAndNewlines), file)
            }
            let lines = String(decoding: try folder.read("log"), as: UTF8.self)
            return watch.leaks(in: lines.split(separator: "\n").map(String.init))
        }
    }

    /// The end of what it wrote to standard error.
    var lastWords: String {
        String(decoding: (try? folder.read("log"))?.suffix(2000) ?? [], as: UTF8.self)
    }
}
