import Logging
import TestSupport

/// What nodes log at the level at which they run in production.
final class InfoLog: Sendable {
    private let book = LogBook()

    var lines: [String] { book.entries }

    var logger: Logger {
        var logger = book.logger
        logger.logLevel = .info
        return logger
    }
}
