import CountersignWire
import Dispatch
import Foundation
import Synchronization

/// Shows on a terminal what a command is doing, after the first second.
///
/// The line is erased afterwards, and never gets into a file.
final class ProgressLine: Sendable {
    /// The pause before the line appears, and between its updates.
    private static let pause = DispatchTimeInterval.seconds(1)
    private static let clear = "\r\u{1B}[K"

    /// Whether errors go to a terminal, which a person may be reading.
    static let hasTerminal = isatty(STDERR_FILENO) == 1
    /// Writes to standard error, apart from the output that scripts read.
    static let standardError: @Sendable (String) -> Void = { text in
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private struct State {
        var seconds = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let doing: String
    private let write: @Sendable (String) -> Void

    private init(_ doing: String, _ write: @escaping @Sendable (String) -> Void) {
        self.doing = ShownText.line(doing)
        self.write = write
    }

    /// Runs an operation that may take long.
    ///
    /// - Parameters:
    ///   - doing: a description of the operation, such as "Copying the database".
    ///   - isShown: whether to show the line; by default, whether errors go to a terminal.
    ///   - write: writes the line.
    ///   - body: the operation.
    static func during<Result>(
        _ doing: String, isShown: Bool = hasTerminal, write: @escaping @Sendable (String) -> Void = standardError,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard isShown else { return try await body() }
        let line = ProgressLine(doing, write)
        // A separate timer is needed, because the operation may block the thread.
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + pause, repeating: pause)
        timer.setEventHandler { line.tick() }
        timer.resume()
        defer {
            timer.cancel()
            line.end()
        }
        return try await body()
    }

    private func tick() {
        state.withLock { state in
            guard !state.isOver else { return }
            state.seconds += 1
            write("\(Self.clear)\(doing) … \(state.seconds) s")
        }
    }

    private func end() {
        state.withLock { state in
            state.isOver = true
            if state.seconds > 0 { write(Self.clear) }
        }
    }
}
