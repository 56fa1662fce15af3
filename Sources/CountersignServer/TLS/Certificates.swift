import Logging
import NIOSSL
import Synchronization
import UnixSignals

/// The certificate for new connections, which is read again when its files change.
final class Certificates: Sendable {
    /// How often the files are checked for changes.
    private static let pause = Duration.seconds(2)

    private struct State {
        var context: NIOSSLContext
        var files: [FileState?]
    }

    private let files: TLSFiles
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Throws: ``StartError`` that names the file and what to do.
    init(_ files: TLSFiles, logger: Logger) throws {
        self.files = files
        self.logger = logger
        let seen = files.state
        state = Mutex(State(context: try files.context(), files: seen))
    }

    /// The TLS settings for a new connection.
    var context: NIOSSLContext { state.withLock { $0.context } }

    /// Reads the files again whenever they change, and whenever the process receives SIGHUP.
    func watch() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup) { self.reload() }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: Self.pause)
                    self.reloadIfChanged()
                }
            }
            try await group.waitForAll()
        }
    }

    private func reloadIfChanged() {
        let seen = files.state
        guard seen != state.withLock({ $0.files }) else { return }
        reload()
    }

    /// Reads the files; if they are unusable, the earlier certificate stays in use and the log says why.
    private func reload() {
        // The state is taken before the files are read, so the next check sees a change in between.
        let seen = files.state
        do {
            let context = try files.context()
            state.withLock { $0 = State(context: context, files: seen) }
            logger.notice("certificate read", metadata: ["file": "\(files.certificate)"])
        } catch {
            state.withLock { $0.files = seen }
            logger.error("certificate not changed", metadata: ["error": "\(error)"])
        }
    }
}
