import HTTPTypes
import Hummingbird
import Logging

/// Records each request in the log and in the counts.
struct AccessLog: Sendable {
    /// The counts; nil when metrics are off.
    let counts: RequestCounts?
    let logger: Logger

    /// Whether a request is recorded anywhere.
    var isRead: Bool { counts != nil || logger.logLevel <= .info }

    /// Records a request.
    ///
    /// - Parameters:
    ///   - method: its method, the only part of the request that is kept during a wait.
    ///   - context: the server's data about the request.
    ///   - status: the status of the reply.
    ///   - duration: how long the request took.
    ///   - isWait: whether the request waited; its duration then says nothing about the server.
    func note(
        _ method: HTTPRequest.Method, _ context: ServerContext, status: Int, duration: Duration, isWait: Bool
    ) {
        // The route's name instead of the path: a path holds ids, and anything a caller may write into it.
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

    /// The framework's name for a path without a route.
    private static let unknown = "NotFound"
    private static let methods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]
}

extension Duration {
    /// Milliseconds with three decimals.
    fileprivate var milliseconds: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        let rest = "\(microseconds % 1000)"
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
