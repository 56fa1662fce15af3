public import Logging
import Synchronization

/// Keeps what is logged, down to the last detail.
public final class LogCapture: Sendable {
    private let kept = Mutex<[String]>([])

    /// A log that is empty.
    public init() {}

    /// Everything that was logged: level, message, metadata.
    public var lines: [String] { kept.withLock { $0 } }

    /// A logger that writes here.
    public var logger: Logger {
        Logger(label: "test") { [self] _ in Handler(capture: self) }
    }

    private struct Handler: LogHandler {
        let capture: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            capture.kept.withLock { $0.append("\(event.level) \(event.message) \(all)") }
        }
    }
}
