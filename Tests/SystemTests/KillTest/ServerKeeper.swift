import Foundation
import ServerTestSupport
import TestSupport

/// Restarts one server on one port and folder between the kills.
actor ServerKeeper: Served {
    private let program: String
    nonisolated let port: Int
    private let folder: TemporaryFolder
    private let arguments: [String]
    private let environment: [String: String]
    private let watchdog: Watchdog
    private let log: FileHandle
    /// Knows the server's secrets and searches its log and replies.
    nonisolated let watch = ServerWatch()
    private var running: ServerProcess?
    private var isUp = Occurrence()
    private var failure: ServerProcess.Unusable?
    private(set) var kills = 0
    /// Counts the requests that kills interrupted.
    nonisolated let flights = Flights()
    /// The duration of each start, from the creation of the process until it prints that it serves.
    private(set) var startTimes: [Duration] = []

    /// Creates a keeper without starting the server.
    ///
    /// - Parameters:
    ///   - folder: the folder for the server's data.
    ///   - port: the server's port.
    ///   - arguments: further arguments of `serve`.
    ///   - environment: further variables of its environment.
    ///   - mayBeUnavailable: whether a reply may say that the server is unavailable, because the test makes it so.
    init(
        folder: TemporaryFolder, port: Int, arguments: [String] = [], environment: [String: String] = [:],
        mayBeUnavailable: Bool = false
    ) throws {
        self.arguments = arguments
        self.environment = environment
        self.mayBeUnavailable = mayBeUnavailable
        program = try ServerProcess.program
        self.port = port
        self.folder = folder
        watchdog = try Watchdog()
        log = try FileHandle(forWritingTo: URL(filePath: try folder.write("log", [])))
    }

    nonisolated var data: String { folder.path("data") }
    nonisolated var url: String { "http://127.0.0.1:\(port)" }

    nonisolated let mayBeUnavailable: Bool

    /// The process id of the running server.
    var processID: Int32? { running?.id }

    /// Starts the server; returns when it answers requests.
    func start() async throws {
        let begin = ContinuousClock.now
        let server = try ServerProcess(
            program,
            // The limits are high, because portals ask as fast as they can.
            [
                "serve", "--port", "\(port)", "--data", data, "--json", "--limits-code-asks", "1000000",
                "--limits-texts",
                "1000000",
            ] + arguments, environment: environment, errors: log)
        running = server
        try watchdog.watch(server.id)
        guard await server.firstLine() != nil else {
            // The output has ended; the exit status is known a moment later.
            await server.wait()
            throw fail("the server did not start (\(server.end)): \(lastWords)")
        }
        startTimes.append(ContinuousClock.now - begin)
        isUp.happen()
    }

    /// Kills the server; returns when the process has ended.
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

    /// Stops the server as an operator does; returns when the process has ended.
    func stop() async throws {
        guard let server = running else { return }
        isUp = Occurrence()
        running = nil
        await server.end(by: SIGTERM)
        try watchdog.watch(nil)
    }

    /// Returns when the server answers requests.
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

    /// The secrets in the server's standard error, and in replies to the wrong callers.
    var leaks: [ServerWatch.Leak] {
        get throws {
            for file in ["master.key", "bootstrap.token"]
            where FileManager.default.fileExists(atPath: "\(data)/\(file)") {
                let text = try String(contentsOfFile: "\(data)/\(file)", encoding: .utf8)
                watch.plant(text.trimmingCharacters(in: .whitespacesAndNewlines), file)
            }
            return watch.leaks(in: try wholeLog.split(separator: "\n").map(String.init))
        }
    }

    /// The server's standard error.
    var wholeLog: String {
        get throws { String(decoding: try folder.read("log"), as: UTF8.self) }
    }

    /// The end of the server's standard error.
    var lastWords: String {
        String(decoding: (try? folder.read("log"))?.suffix(2000) ?? [], as: UTF8.self)
    }
}
