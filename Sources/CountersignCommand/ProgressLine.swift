import CountersignWire
import Dispatch
import Foundation
import Synchronization

/// Says on a terminal what a command is doing, from the second second on; nothing of it stays, and nothing of it gets
/// into a file.
final class ProgressLine: Sendable {
    /// After how long it is said, and how often anew.
    private static let pause = DispatchTimeInterval.seconds(1)
    private static let clear = "\r\u{1B}[K"

    /// Whether errors go to a terminal, where somebody may look.
    static let hasTerminal = isatty(STDERR_FILENO) == 1
    /// Writes beside what a script reads.
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

    /// Does something that may take long.
    ///
    /// - Parameters:
    ///   - doing: what is done, such as "Copying the database".
    ///   - isShown: whether anybody looks; whether errors go to a terminal unless said otherwise.
    ///   - write: where it is said.
    ///   - body: does it.
    static func during<Result>(
        _ doing: String, isShown: Bool = hasTerminal, write: @escaping @Sendable (String) -> Void = standardError,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard isShown else { return try await body() }
        let line = ProgressLine(doing, write)
        // A timer of its own: what is done may hold the thread.
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
