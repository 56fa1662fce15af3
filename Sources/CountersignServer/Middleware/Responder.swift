import CountersignCore
import CountersignWire
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Answers requests: has them routed, lets those wait that asked to, and has their door render what was thrown.
///
/// A request that waits does so here, outside the router: what routing and admitting it took of memory, more than the
/// rest of a connection, is given back before. For the same reason each step is a function that is not inlined: its
/// response, a quarter of a kilobyte, stays out of the frame that waits.
///
/// Refusals are the caller's doing and logged at notice; faults are ours, logged once with their error, which the
/// caller never sees.
final class Responder: Sendable {
    /// What the framework would say of requests is thrown, and logged here; a logger that writes would put its words
    /// together for every request all the same.
    static let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }

    private let routes: any HTTPResponder<ServerContext>
    /// The doors that have paths of their own, by path.
    private let doors: [(path: String, door: any Door)]
    /// The door of all other paths.
    private let otherwise: any Door
    private let ports: Ports
    private let proxies: TrustedProxies
    private let access: AccessLog
    private let date = DateField()

    /// Answers what the routes of some doors do.
    ///
    /// - Parameters:
    ///   - table: the routes of all doors.
    ///   - doors: the doors; the last one has the paths that are no other's.
    ///   - ports: the log and the time.
    ///   - proxies: whom to believe who a request is from.
    ///   - counts: where requests are counted; nil when nobody reads it.
    init(
        _ table: RouteTable, doors: [any Door], ports: Ports, proxies: TrustedProxies, counts: RequestCounts?
    ) {
        guard let last = doors.last else { preconditionFailure("there is a door") }
        routes = table.responder()
        self.doors = doors.flatMap { door in door.paths.map { ($0, door) } }
        otherwise = last
        self.ports = ports
        self.proxies = proxies
        access = AccessLog(counts: counts, logger: ports.logger)
    }

    /// Answers one request.
    func respond(
        to request: Request, writer: consuming ResponseWriter, channel: any NIOCore.Channel
    ) async throws {
        let exchange = exchange(request, channel)
        await route(request, exchange)
        let later = exchange.context.later.take()
        if let later { await answer(exchange, later) }
        try await write(exchange, isWait: later != nil, to: writer)
    }

    @inline(never)
    private func exchange(_ request: Request, _ channel: any NIOCore.Channel) -> PendingExchange {
        var context = ServerContext(source: .init(channel: channel, logger: Self.silent))
        context.identify(by: request.headers, behind: proxies)
        return PendingExchange(
            method: request.method, context: context, door: door(of: request.head.path ?? ""),
            start: access.isRead ? ContinuousClock.now : nil)
    }

    private func door(of target: String) -> any Door {
        for (path, door) in doors where target.utf8.starts(with: path.utf8) {
            guard let next = target.utf8.dropFirst(path.utf8.count).first else { return door }
            if next == UInt8(ascii: "/") || next == UInt8(ascii: "?") { return door }
        }
        return otherwise
    }

    /// Has a request routed, in a task of its own: a task keeps the stack it once took, and this one's is given back.
    @inline(never)
    private func route(_ request: Request, _ exchange: PendingExchange) async {
        let routing = Task {
            await answer(exchange) {
                try await routes.respond(to: Self.routed(request, exchange.context), context: exchange.context)
            }
        }
        await withTaskCancellationHandler {
            await routing.value
        } onCancel: {
            routing.cancel()
        }
    }

    /// A request as the router should see it.
    ///
    /// - Throws: what is wrong with it as such, or that its path is no route's whatever stands in it.
    private static func routed(_ request: Request, _ context: ServerContext) throws(RequestFailure) -> Request {
        if let fault = request.head.fault ?? context.fault { throw .malformed(fault) }
        guard RequestPath.isPlain(request.head.path ?? "") else { throw .unknownPath }
        guard !RouteTable.methods.contains(request.method) else { return request }
        // Methods that no route has all meet the same refusal.
        var head = request.head
        head.method = .trace
        return Request(head: head, body: request.body)
    }

    @inline(never)
    private func answer(_ exchange: PendingExchange, _ body: () async throws -> Response) async {
        do {
            exchange.response = try await body()
        } catch {
            exchange.response = reply(to: error, exchange)
        }
    }

    @inline(never)
    private func write(_ exchange: PendingExchange, isWait: Bool, to writer: consuming ResponseWriter) async throws {
        let response = finished(exchange, isWait: isWait)
        try await writer.write(response: response.head, body: response.body)
    }

    /// Adds what every response has, and notes how the request went.
    private func finished(_ exchange: PendingExchange, isWait: Bool) -> Response {
        var response = exchange.response
        response.headers[.date] = date.value(at: ports.time.now)
        response.headers[.requestID] = exchange.context.requestID
        // A reply about one caller is nobody else's, and some hold secrets.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        if let start = exchange.start {
            access.note(
                exchange.method, exchange.context, status: response.status.code,
                duration: start.duration(to: .now), isWait: isWait)
        }
        // A body here would be read as the beginning of the next reply. Spec: RFC 9110 §9.3.2.
        return exchange.method == .head ? response.createHeadResponse() : response
    }

    private func reply(to error: any Error, _ exchange: PendingExchange) -> Response {
        let context = exchange.context
        if let refusal = exchange.door.refusal(of: error, context) { return reply(refusal, context) }
        let failure = failure(of: error, context)
        var response = reply(exchange.door.refusal(of: failure, context), context)
        if case .methodNotAllowed(let allowed) = failure { response.headers[.allow] = allowed }
        if failure.endsConnection { response.headers[.connection] = "close" }
        return response
    }

    private func reply(_ refusal: RenderedRefusal, _ context: ServerContext) -> Response {
        access.counts?.note(refusal: refusal.code)
        if refusal.response.status.code < 500 {
            var metadata: Logger.Metadata = ["request": "\(context.requestID)", "code": "\(refusal.code)"]
            metadata["detail"] = refusal.detail.map { "\($0)" }
            ports.logger.notice("refused", metadata: metadata)
        }
        return refusal.response
    }

    /// What an error that is no door's refusal means to the caller.
    private func failure(of error: any Error, _ context: ServerContext) -> RequestFailure {
        switch error {
        case let failure as RequestFailure: return failure
        case is CancellationError: return .unavailable
        case StoreError.unavailable, StoreError.serializationFailure:
            ports.logger.error("store unavailable", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return .unavailable
        default:
            ports.logger.error("fault", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return .fault
        }
    }
}
