import Foundation
import Logging

/// How many files this process may have open, of which each connection is one.
enum FileLimit {
    /// What is left for the database, for what is sent, and for the log.
    private static let reserve = 256

    /// How many connections there may be, so that they never take the files that the rest needs.
    ///
    /// The process is given as many files as it may have: what it begins with is often meant for a person at a prompt.
    static func connections(atMost wanted: Int, _ logger: Logger) -> Int {
        let files = raised()
        let possible = max(files - reserve, files / 2)
        // Nobody has asked for as many as there may be where nothing is set.
        if possible < wanted, wanted != ConnectionLimits.standardTotal {
            logger.notice(
                "fewer connections than set: each is an open file",
                metadata: ["connections": "\(possible)", "files": "\(files)"])
        }
        return min(wanted, possible)
    }

    private static func raised() -> Int {
        var limit = rlimit()
        #if canImport(Darwin)
            getrlimit(RLIMIT_NOFILE, &limit)
            // More than this is refused, whatever the limit says.
            limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(OPEN_MAX)))
            setrlimit(RLIMIT_NOFILE, &limit)
            getrlimit(RLIMIT_NOFILE, &limit)
        #else
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            getrlimit(files, &limit)
            limit.rlim_cur = limit.rlim_max
            setrlimit(files, &limit)
            getrlimit(files, &limit)
        #endif
        return Int(clamping: limit.rlim_cur)
    }
}
