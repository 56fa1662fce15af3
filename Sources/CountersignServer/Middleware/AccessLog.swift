import HTTPTypes
import Hummingbird
import Logging

/// Notes how each request went: a line in the log, and counts.
struct AccessLog: Sendable {
    /// Where requests are counted; nil when nobody reads it.
    let counts: RequestCounts?
    let logger: Logger

    /// Whether anybody wants to know.
    var isRead: Bool { counts != nil || logger.logLevel <= .info }

    /// Notes a request.
    ///
    /// - Parameters:
    ///   - method: its method: nothing else of it lasts as long as a wait.
    ///   - context: what is known of it.
    ///   - status: the status of the reply.
    ///   - duration: how long it took.
    ///   - isWait: whether it waited; then its time says nothing about the server.
    func note(
        _ method: HTTPRequest.Method, _ context: ServerContext, status: Int, duration: Duration, isWait: Bool
    ) {
        // The route's name, never the path: that holds ids, and whatever a caller wrote.
        let route = context.endpointPath.flatMap { $0 == Self.unknown ? nil : $0 } ?? "none"
        let method = Self.methods.contains(method) ? method.rawValue : "other"
        counts?.note(
            RequestCounts.Key(route: route, method: method), status: status, duration: isWait ? nil : duration)
        logger.info(
            "request",
            metadata: [
                "request": "\(context.requestID)", "method": "\(method)", "route": "\(route)", "status": "\(status)",
                "ms": "\(duration.milliseconds)", "from": "\(context.caller.map { "\($0)" } ?? "nowhere")",
            ])
    }

    /// What the framework calls a path that is no route's.
    private static let unknown = "NotFound"
    private static let methods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]
}

extension Duration {
    /// In milliseconds, to the microsecond.
    fileprivate var milliseconds: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        let rest = "\(microseconds % 1000)"
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
