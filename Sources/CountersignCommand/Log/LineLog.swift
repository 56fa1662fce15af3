import CountersignWire
import Foundation
import Logging

/// Writes the log to standard error, each event as one line and in one piece.
struct LineLog: LogHandler {
    let format: LogFormat
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning
    var metadataProvider: Logger.MetadataProvider?

    init(format: LogFormat) {
        self.format = format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let members = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let line = format.line(
            event.level, "\(event.message)", members.map { ($0.key, "\($0.value)") }, at: Self.now)
        let bytes = Array((line + "\n").utf8)
        // A reader that does not read the log must not stop the server.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    private static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// A logger that writes events of this level and above.
    static func logger(_ format: LogFormat, _ level: Logger.Level) -> Logger {
        Logger(label: "countersign") { _ in
            var log = LineLog(format: format)
            log.logLevel = level
            return log
        }
    }
}
