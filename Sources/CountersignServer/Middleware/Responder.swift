import CountersignCore
import CountersignWire
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Answers requests: routes each one, waits if its handler asked for that, and has its door render what was thrown.
///
/// A request waits here, outside the router, so that the memory of routing and admission is freed before the wait; it
/// is more than the rest of a connection needs. For the same reason the steps are functions that are not inlined: a
/// response, a quarter of a kilobyte, then stays out of the stack frame that waits.
///
/// Refusals are caused by callers and are logged at notice. Faults are caused by the server and are logged once, with
/// their error, which the caller never sees.
final class Responder: Sendable {
    /// Discards what the framework logs: its errors are thrown and logged here, and a logger with a writer would format
    /// the framework's messages for every request.
    static let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }

    private let routes: any HTTPResponder<ServerContext>
    /// The doors that have their own paths, by path.
    private let doors: [(path: String, door: any Door)]
    /// The door for all other paths.
    private let otherwise: any Door
    private let ports: Ports
    private let proxies: TrustedProxies
    private let access: AccessLog
    private let load: LoadLimit
    private let overload = OncePerSecond()
    private let fullDisk = OncePerSecond()
    private let date = DateField()
    private let transportSecurity: String?

    /// Creates a responder.
    ///
    /// - Parameters:
    ///   - table: the routes of all doors.
    ///   - doors: the doors; the last one serves all paths that no other door has.
    ///   - ports: the log and the current time.
    ///   - proxies: the trusted proxies.
    ///   - counts: counts the requests; nil when metrics are off.
    ///   - load: refuses requests when there are too many.
    init(
        _ table: RouteTable, doors: [any Door], ports: Ports, proxies: TrustedProxies, counts: RequestCounts?,
        load: LoadLimit
    ) {
        guard let last = doors.last else { preconditionFailure("there is a door") }
        routes = table.responder()
        self.doors = doors.flatMap { door in door.paths.map { ($0, door) } }
        otherwise = last
        self.ports = ports
        self.proxies = proxies
        transportSecurity = Self.transportSecurity(of: ports.issuer)
        access = AccessLog(counts: counts, logger: ports.logger)
        self.load = load
    }

    /// What keeps browsers from calling the issuer without TLS; nil where other programs of this machine share its host, or
    /// there is no TLS.
    ///
    /// Spec: RFC 6797 §6.1, §7.1, §7.2.
    private static func transportSecurity(of issuer: Issuer) -> String? {
        "\(issuer)".hasPrefix("https:") && !issuer.isLoopback ? "max-age=\(Seconds.days(365).value)" : nil
    }

    func respond(
        to request: Request, writer: consuming ResponseWriter, channel: any NIOCore.Channel
    ) async throws {
        let exchange = exchange(request, channel)
        if Self.mayWait(request) { await routeApart(request, exchange) } else { await route(request, exchange) }
        exchange.context.place.leave()
        let later = exchange.context.later.take()
        if let later { await answer(exchange, later) }
        try await write(exchange, isWait: later != nil, to: writer)
    }

    /// The refusal of a request that arrives while the server has too many; nil if it is to be worked on.
    ///
    /// It is made on the connection's event loop: a task that only refuses would wait its turn among those that work,
    /// and cost as much as a quarter of an answer. These requests are counted, and do not stand in the access log one
    /// by one.
    func refusalAtOnce(of request: HTTPRequest, on channel: any NIOCore.Channel) -> RenderedRefusal? {
        guard let target = request.path, load.isFull(for: target, at: .now) else { return nil }
        var context = ServerContext(source: .init(channel: channel, logger: Self.silent))
        context.identify(by: request.headerFields, behind: proxies)
        warnOfOverload()
        var refusal = door(of: target).refusal(of: .overloaded, context)
        access.counts?.note(refusal: refusal.code)
        refusal.headers[.date] = date.value(at: ports.time.now)
        refusal.headers[.requestID] = context.requestID
        refusal.headers[.cacheControl] = "no-store"
        if let transportSecurity { refusal.headers[.strictTransportSecurity] = transportSecurity }
        return refusal
    }

    private func warnOfOverload() {
        if overload.isDue(at: .now) { ports.logger.warning("overloaded", metadata: ["working": "\(load.working)"]) }
    }

    @inline(never)
    private func exchange(_ request: Request, _ channel: any NIOCore.Channel) -> PendingExchange {
        var context = ServerContext(source: .init(channel: channel, logger: Self.silent))
        context.place = WorkPlace(in: load)
        context.identify(by: request.headers, behind: proxies)
        context.languages = request.headers[.acceptLanguage]
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

    /// Whether a request asks for a reply that may take long: a long poll or a stream of events.
    private static func mayWait(_ request: Request) -> Bool {
        let query = request.head.path?.utf8.drop { $0 != UInt8(ascii: "?") } ?? ""[...].utf8
        return query.dropFirst().split(separator: UInt8(ascii: "&")).contains { $0.starts(with: "wait=".utf8) }
            || request.headers[.accept]?.contains("event-stream") == true
            || request.headers[.prefer]?.contains("wait") == true
    }

    @inline(never)
    private func route(_ request: Request, _ exchange: PendingExchange) async {
        await WorkPlace.$current.withValue(exchange.context.place) {
            await answer(exchange) {
                try await routes.respond(to: Self.routed(request, exchange.context), context: exchange.context)
            }
        }
    }

    /// Routes a request in a task of its own: a task keeps the stack that it has once used, and this task's stack is
    /// freed before the wait.
    ///
    /// For all other requests that would cost two more turns of the thread pool.
    @inline(never)
    private func routeApart(_ request: Request, _ exchange: PendingExchange) async {
        let routing: Task<Void, Never>
        // Begun at once on this thread, it need not wait for another.
        if #available(macOS 26, iOS 26, *) {
            routing = Task.immediate { await route(request, exchange) }
        } else {
            routing = Task { await route(request, exchange) }
        }
        await withTaskCancellationHandler {
            await routing.value
        } onCancel: {
            routing.cancel()
        }
    }

    /// The request for the router.
    ///
    /// - Throws: ``RequestFailure`` if the request is malformed, or if its path cannot be the path of any route.
    private static func routed(_ request: Request, _ context: ServerContext) throws(RequestFailure) -> Request {
        if let fault = request.head.fault ?? context.fault { throw .malformed(fault) }
        guard RequestPath.isPlain(request.head.path ?? "") else { throw .unknownPath }
        guard !RouteTable.methods.contains(request.method) else { return request }
        // No route has such a method, so one method stands for all of them.
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

    /// Adds the fields that every response has, and records the request.
    private func finished(_ exchange: PendingExchange, isWait: Bool) -> Response {
        var response = exchange.response
        response.headers[.date] = date.value(at: ports.time.now)
        response.headers[.requestID] = exchange.context.requestID
        if let transportSecurity { response.headers[.strictTransportSecurity] = transportSecurity }
        // By default nothing is cached: a reply concerns one caller, and some replies hold secrets.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        if let start = exchange.start {
            access.note(
                exchange.method, exchange.context, status: response.status.code,
                duration: start.duration(to: .now), isWait: isWait)
        }
        // The caller would read a body here as the beginning of the next reply. Spec: RFC 9110 §9.3.2.
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
        if refusal.status < 500 {
            var metadata: Logger.Metadata = ["request": "\(context.requestID)", "code": "\(refusal.code)"]
            metadata["detail"] = refusal.detail.map { "\($0)" }
            ports.logger.notice("refused", metadata: metadata)
        }
        return refusal.response
    }

    /// The failure for an error that is not a refusal of a door.
    private func failure(of error: any Error, _ context: ServerContext) -> RequestFailure {
        switch error {
        case RequestFailure.overloaded:
            warnOfOverload()
            return .overloaded
        case let failure as RequestFailure: return failure
        case is CancellationError: return .unavailable
        case StoreError.unavailable, StoreError.serializationFailure:
            ports.logger.error("store unavailable", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return .unavailable
        case StoreError.full:
            // Each line may take the room that is made.
            if fullDisk.isDue(at: .now) {
                ports.logger.error(
                    "no room on the database's disk",
                    metadata: [
                        "request": "\(context.requestID)", "advice": "make room; nothing is lost, and reads go on",
                    ])
            }
            return .noRoom
        default:
            ports.logger.error("fault", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return .fault
        }
    }
}
