import CountersignCore
import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// Answers requests: has them routed, lets those wait that asked to, and turns what was thrown into a problem.
///
/// A request that waits does so here, outside the router: what routing and admitting it took of memory, more than the
/// rest of a connection, is given back before. For the same reason each step is a function that is not inlined: its
/// response, a quarter of a kilobyte, stays out of the frame that waits.
///
/// Refusals are the caller's doing and logged at notice; faults are ours, logged once with their error, which the
/// caller never sees. Spec: RFC 9457.
final class Responder: Sendable {
    /// What the framework would say of requests is thrown, and logged here; a logger that writes would put its words
    /// together for every request all the same.
    static let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }

    private let routes: any HTTPResponder<ServerContext>
    private let ports: Ports
    private let isDevelopment: Bool
    private let proxies: TrustedProxies
    private let access: AccessLog
    private let date = DateField()

    /// Answers what the routes of an API do.
    init(_ api: API) {
        routes = api.router().buildResponder()
        ports = api.ports
        isDevelopment = api.isDevelopment
        proxies = api.proxies
        access = AccessLog(counts: api.counts, logger: api.ports.logger)
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
            method: request.method, context: context, start: access.isRead ? ContinuousClock.now : nil)
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
    private static func routed(_ request: Request, _ context: ServerContext) throws(ProblemDetails) -> Request {
        if let fault = request.head.fault ?? context.fault {
            throw ProblemDetails(.malformedRequest, detail: "\(fault)")
        }
        guard RequestPath.isPlain(request.head.path ?? "") else { throw ProblemDetails(.notFound) }
        guard !Routes.methods.contains(request.method) else { return request }
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
            exchange.response = reply(to: error, exchange.context)
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

    private func reply(to error: any Error, _ context: ServerContext) -> Response {
        let problem = problem(of: error, context)
        if let code = problem.knownCode { access.counts?.note(refusal: code) }
        if problem.status < 500 {
            ports.logger.notice("refused", metadata: metadata(of: problem, context))
        }
        var response = Response(
            json: problem.json(issuer: ports.issuer, requestID: context.requestID), status: problem.status)
        response.headers[.contentType] = ProblemDetails.mediaType
        if let seconds = problem["retry_after"]?.integer { response.headers[.retryAfter] = "\(seconds)" }
        if problem.knownCode == .unauthorized { response.headers[.wwwAuthenticate] = "Basic realm=\"countersign\"" }
        if problem.knownCode == .unsupportedMediaType {
            response.headers[.accept] = "application/json"
            response.headers[.acceptEncoding] = "identity"
        }
        if let allowed = problem["allowed"]?.string { response.headers[.allow] = allowed }
        // What is left of such a request must not be read as the next one. Spec: RFC 9110 §15.5.9, §15.5.14.
        if Self.ends.contains(problem.knownCode) { response.headers[.connection] = "close" }
        return response
    }

    /// The problems after which a connection ends.
    private static let ends: Set<ProblemCode?> = [.bodyTooLarge, .bodyTooSlow, .malformedRequest]

    /// Ids and codes; in development mode also which check a device's request or answer has failed.
    private func metadata(of problem: ProblemDetails, _ context: ServerContext) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["request": "\(context.requestID)", "code": "\(problem.code)"]
        if isDevelopment, problem.knownCode == .answerInvalid || problem.knownCode == .signatureInvalid {
            metadata["detail"] = problem.detail.map { "\($0)" }
        }
        return metadata
    }

    private func problem(of error: any Error, _ context: ServerContext) -> ProblemDetails {
        switch error {
        case let problem as ProblemDetails: return problem
        case let error as JSONSyntaxError: return ProblemDetails(syntax: error)
        case let error as JSONShapeError: return ProblemDetails(shape: error)
        case let error as RefusedText: return ProblemDetails(text: error)
        case is CancellationError: return ProblemDetails(.unavailable)
        case StoreError.unavailable, StoreError.serializationFailure:
            ports.logger.error("store unavailable", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return ProblemDetails(.unavailable)
        default:
            ports.logger.error("fault", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return ProblemDetails(.internalError)
        }
    }
}

/// What is kept of a request until it is answered: whoever waits has it once, not in each of the functions it waits in.
private final class PendingExchange: Sendable {
    let method: HTTPRequest.Method
    let context: ServerContext
    /// When it came; nil when nobody wants to know.
    let start: ContinuousClock.Instant?
    private let kept = Mutex(Response(status: .internalServerError))

    /// The response, as far as it is known.
    var response: Response {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }

    init(method: HTTPRequest.Method, context: ServerContext, start: ContinuousClock.Instant?) {
        self.method = method
        self.context = context
        self.start = start
    }
}

/// Tells of a path that is no route as a problem; the framework would make a reply of its own of it.
struct UnknownPaths: RouterMiddleware {
    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            throw ProblemDetails(.notFound)
        }
    }
}

/// The present as the field `Date` has it, put together once a second.
///
/// Spec: RFC 9110 §6.6.1.
private final class DateField: Sendable {
    private let last = Mutex((second: Int64.min, text: ""))

    func value(at now: Timestamp) -> String {
        let second = now.milliseconds / 1000
        return last.withLock { last in
            if last.second != second {
                last = (second, Self.text(of: second))
            }
            return last.text
        }
    }

    private static func text(of second: Int64) -> String {
        var (time, parts) = (time_t(second), tm())
        gmtime_r(&time, &parts)
        // "Sun, 06 Nov 1994 08:49:37 GMT" in 29 bytes and one for the end: nothing here sets another language.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 30) { buffer in
            guard let start = buffer.baseAddress, strftime(start, 30, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0 else {
                return ""
            }
            return String(cString: start)
        }
    }
}
