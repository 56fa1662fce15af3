import Logging
import NIOPosix
import Synchronization

/// What is read from files of the operator's, and read again when they change.
///
/// Files that have become unusable change nothing: what was read before stays in use, and the log says why. Where the
/// reason is not the files, they are tried again later.
final class WatchedFiles<Value: Sendable>: Sendable {
    /// How often the files are checked for changes.
    private static var pause: Duration { .seconds(2) }

    private struct State {
        var value: Value
        var files: [FileState?]
        /// When to try again, if something else than the files was the reason why they could not be read.
        var retry: ContinuousClock.Instant?
    }

    private let paths: [String]
    private let name: String
    private let logger: Logger
    private let describe: @Sendable (Value) -> Logger.Metadata
    private let read: @Sendable () throws -> Value
    private let rest: Duration
    private let substitute: @Sendable (any Error) -> Value?
    private let state: Mutex<State>

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - name: what the log calls them.
    ///   - logger: the log for changes of the files.
    ///   - describe: what the log says of a value that was read.
    ///   - read: reads a value from the files.
    ///   - rest: how long to wait before files are tried again that may be good.
    ///   - substitute: what is used at first where an error does not mean that the files are bad; nil where it does.
    /// - Throws: what `read` throws when the files are bad.
    init(
        _ paths: [String], named name: String, logger: Logger,
        describedBy describe: @escaping @Sendable (Value) -> Logger.Metadata,
        read: @escaping @Sendable () throws -> Value, resting rest: Duration = .seconds(60),
        or substitute: @escaping @Sendable (any Error) -> Value? = { _ in nil }
    ) throws {
        self.paths = paths
        self.name = name
        self.logger = logger
        self.describe = describe
        self.read = read
        self.rest = rest
        self.substitute = substitute
        let seen = Self.states(of: paths)
        do {
            state = Mutex(State(value: try read(), files: seen))
        } catch {
            guard let value = substitute(error) else { throw error }
            state = Mutex(State(value: value, files: seen, retry: .now + rest))
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
            let isChanged = Self.states(of: paths) != state.files
            guard isChanged || state.retry.map({ $0 <= .now }) ?? false else { continue }
            // A large file takes a while.
            try await NIOThreadPool.singleton.runIfActive { self.reload(again: !isChanged) }
        }
    }

    /// Reads the files again.
    ///
    /// - Parameter again: whether the log knows that the files, which may be good, could not be read.
    func reload(again: Bool = false) {
        // The state is taken before the files are read, so the next check sees a change in between.
        let seen = Self.states(of: paths)
        do {
            let value = try read()
            state.withLock { $0 = State(value: value, files: seen) }
            logger.notice("\(name) read", metadata: describe(value))
        } catch {
            let mayBeGood = substitute(error) != nil
            state.withLock { ($0.files, $0.retry) = (seen, mayBeGood ? .now + rest : nil) }
            if !again || !mayBeGood { logger.error("\(name) not changed", metadata: ["error": "\(error)"]) }
        }
    }

    private static func states(of paths: [String]) -> [FileState?] { paths.map(FileState.init(path:)) }
}
