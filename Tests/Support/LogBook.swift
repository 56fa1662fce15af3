package import Logging
import Synchronization

/// Keeps all log entries of every level as text.
package final class LogBook: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    /// The entries, each with its level, message and metadata.
    package var entries: [String] { lines.withLock { $0 } }

    /// A logger that writes to this book.
    package var logger: Logger { Logger(label: "test") { _ in Handler(book: self) } }

    private struct Handler: LogHandler {
        let book: LogBook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let members = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            let text = members.map { " \($0.key)=\($0.value)" }.joined()
            book.lines.withLock { $0.append("\(event.level) \(event.message)\(text)") }
        }
    }
}
