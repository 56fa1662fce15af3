import Logging
import NIOPosix
import Synchronization

/// What is read from files of the operator's, and read again when they change.
///
/// Files that have become unusable change nothing: what was read before stays in use, the log says why, and they are
/// tried again, since the reason may be a full disk.
final class WatchedFiles<Value: Sendable>: Sendable {
    /// How often the files are checked for changes.
    private static var pause: Duration { .seconds(2) }

    private struct State {
        var value: Value
        var files: [FileState?]
        /// Why the files could not be read, and when to try again; nil if they could.
        var failure: (why: String, until: ContinuousClock.Instant)?
    }

    private let paths: [String]
    private let name: String
    private let logger: Logger
    private let describe: @Sendable (Value) -> Logger.Metadata
    private let read: @Sendable () throws -> Value
    private let rest: Duration
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - name: what the log calls them.
    ///   - logger: the log for changes of the files.
    ///   - describe: what the log says of a value that was read.
    ///   - read: reads a value from the files.
    ///   - rest: how long to wait before files that could not be read are tried again.
    ///   - substitute: what is used at first where the files could not be read; nil where nothing can be.
    /// - Throws: what `read` throws and nothing can substitute.
    init(
        _ paths: [String], named name: String, logger: Logger,
        describedBy describe: @escaping @Sendable (Value) -> Logger.Metadata,
        read: @escaping @Sendable () throws -> Value, resting rest: Duration = .seconds(60),
        or substitute: (any Error) -> Value? = { _ in nil }
    ) throws {
        self.paths = paths
        self.name = name
        self.logger = logger
        self.describe = describe
        self.read = read
        self.rest = rest
        let seen = Self.states(of: paths)
        do {
            state = Mutex(State(value: try read(), files: seen))
        } catch {
            guard let value = substitute(error) else { throw error }
            state = Mutex(State(value: value, files: seen, failure: ("\(error)", .now + rest)))
            logger.error("\(name) not read", metadata: ["error": "\(error)"])
        }
    }

    /// What was read last.
    var value: Value { state.withLock { $0.value } }

    /// Reads the files again whenever they change.
    func watch() async throws {
        while true {
            try await Task.sleep(for: Self.pause)
            let state = state.withLock { $0 }
            guard Self.states(of: paths) != state.files || state.failure.map({ $0.until <= .now }) ?? false else {
                continue
            }
            // A large file takes a while.
            try await NIOThreadPool.singleton.runIfActive { self.reload() }
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
            let why = "\(error)"
            let isKnown = state.withLock { state in
                defer { (state.files, state.failure) = (seen, (why, .now + rest)) }
                return state.files == seen && state.failure?.why == why
            }
            if !isKnown { logger.error("\(name) not changed", metadata: ["error": "\(why)"]) }
        }
    }

    private static func states(of paths: [String]) -> [FileState?] { paths.map(FileState.init(path:)) }
}
