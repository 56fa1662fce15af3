import Foundation
import Logging

/// The limit on open files of this process; each connection is an open file.
enum FileLimit {
    /// The files that remain for the database, for outgoing connections and for the log.
    private static let reserve = 256

    /// How many connections are possible without using up the files for everything else.
    ///
    /// Raises the soft limit to the hard limit, because the initial soft limit is often meant for interactive use.
    static func connections(atMost wanted: Int, _ logger: Logger) -> Int {
        let files = raised()
        let possible = max(files - reserve, files / 2)
        // The default is not logged, because the operator has not asked for that many connections.
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
            // macOS refuses more than this, whatever the limit says.
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
