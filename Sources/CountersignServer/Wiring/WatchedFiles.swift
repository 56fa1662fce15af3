import Logging
import Synchronization

/// What is read from files of the operator's, and read again when they change.
///
/// Files that have become unusable change nothing: what was read before stays in use, and the log says why.
final class WatchedFiles<Value: Sendable>: Sendable {
    /// How often the files are checked for changes.
    private static var pause: Duration { .seconds(2) }

    private struct State {
        var value: Value
        var files: [FileState?]
    }

    private let paths: [String]
    private let name: String
    private let logger: Logger
    private let describe: @Sendable (Value) -> Logger.Metadata
    private let read: @Sendable () throws -> Value
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - name: what the log calls them.
    ///   - logger: the log for changes of the files.
    ///   - describe: what the log says of a value that was read.
    ///   - read: reads a value from the files.
    /// - Throws: what `read` throws.
    init(
        _ paths: [String], named name: String, logger: Logger,
        describedBy describe: @escaping @Sendable (Value) -> Logger.Metadata,
        read: @escaping @Sendable () throws -> Value
    ) throws {
        self.paths = paths
        self.name = name
        self.logger = logger
        self.describe = describe
        self.read = read
        let seen = Self.states(of: paths)
        state = Mutex(State(value: try read(), files: seen))
    }

    /// What was read last.
    var value: Value { state.withLock { $0.value } }

    /// Reads the files again whenever they change.
    func watch() async throws {
        while true {
            try await Task.sleep(for: Self.pause)
            if Self.states(of: paths) != state.withLock({ $0.files }) { reload() }
        }
    }

    /// Reads the files again.
    func reload() {
        // The state is taken before the files are read, so the next check sees a change in between.
        let seen = Self.states(of: paths)
        do {
            let value = try read()
            state.withLock { $0 = State(value: value, files: seen) }
            logger.notice("\(name) read", metadata: describe(value))
        } catch {
            state.withLock { $0.files = seen }
            logger.error("\(name) not changed", metadata: ["error": "\(error)"])
        }
    }

    private static func states(of paths: [String]) -> [FileState?] { paths.map(FileState.init(path:)) }
}
