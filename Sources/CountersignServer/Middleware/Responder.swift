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
/// rest of a connection, is given back before.
///
/// Refusals are the caller's doing and logged at notice; faults are ours, logged once with their error, which the
/// caller never sees. Spec: RFC 9457.
struct Responder: Sendable {
    /// What the framework would say of requests is thrown, and logged here; a logger that writes would put its words
    /// together for every request all the same.
    static let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }

    private let routes: any HTTPResponder<ServerContext>
    private let ports: Ports
    private let proxies: TrustedProxies
    private let access: AccessLog
    private let date = DateField()

    /// Answers what the routes of an API do.
    init(_ api: API) {
        routes = api.router().buildResponder()
        ports = api.ports
        proxies = api.proxies
        access = AccessLog(counts: api.counts, logger: api.ports.logger)
    }

    /// Answers one request.
    func respond(
        to request: Request, writer: consuming ResponseWriter, channel: any Channel
    ) async throws {
        var context = ServerContext(source: .init(channel: channel, logger: Self.silent))
        context.identify(by: request.headers, behind: proxies)
        let start = access.isRead ? ContinuousClock.now : nil
        var response = await route(request, context)
        let later = context.later.take()
        if let later { response = await answer(context, later) }
        finish(&response, context)
        if let start {
            access.note(
                request.head, context, status: response.status.code, duration: start.duration(to: .now),
                isWait: later != nil)
        }
        // A body here would be read as the beginning of the next reply. Spec: RFC 9110 §9.3.2.
        if request.method == .head { response = response.createHeadResponse() }
        try await writer.write(response: response.head, body: response.body)
    }

    /// Has a request routed, in a task of its own: a task keeps the stack it once took, and this one's is given back.
    @inline(never)
    private func route(_ request: Request, _ context: ServerContext) async -> Response {
        async let routed = answer(context) { try await routes.respond(to: request, context: context) }
        return await routed
    }

    private func answer(_ context: ServerContext, _ body: () async throws -> Response) async -> Response {
        do {
            return try await body()
        } catch {
            return reply(to: error, context)
        }
    }

    private func finish(_ response: inout Response, _ context: ServerContext) {
        response.headers[.date] = date.value(at: ports.time.now)
        response.headers[.requestID] = context.requestID
        // A reply about one caller is nobody else's, and some hold secrets.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    }

    private func reply(to error: any Error, _ context: ServerContext) -> Response {
        let problem = problem(of: error, context)
        if let code = problem.knownCode { access.counts?.note(refusal: code) }
        if problem.status < 500 {
            ports.logger.notice("refused", metadata: ["request": "\(context.requestID)", "code": "\(problem.code)"])
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
        return response
    }

    private func problem(of error: any Error, _ context: ServerContext) -> ProblemDetails {
        switch error {
        case let problem as ProblemDetails: return problem
        case let error as JSONSyntaxError: return ProblemDetails(syntax: error)
        case let error as JSONShapeError: return ProblemDetails(shape: error)
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
