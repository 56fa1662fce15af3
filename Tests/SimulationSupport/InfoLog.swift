import Logging
import TestSupport

/// The log of the nodes, at the level that is used in production.
final class InfoLog: Sendable {
    private let book = LogBook()

    var lines: [String] { book.entries }

    var logger: Logger {
        var logger = book.logger
        logger.logLevel = .info
        return logger
    }
}
