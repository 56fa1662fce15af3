import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The outermost middleware: turns whatever was thrown into a problem, gives every reply its request id, and logs.
///
/// Refusals are the caller's doing and logged at notice; faults are ours, logged once with their error, which the
/// caller never sees. Spec: RFC 9457.
struct ErrorMiddleware: RouterMiddleware {
    typealias Context = ServerContext

    let issuer: Issuer
    /// Where to log; not the context's logger, which is the framework's and silent.
    let logger: Logger

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            response = reply(to: error, context)
        }
        response.headers[.requestID] = context.requestID
        // A reply about one caller is nobody else's, and some hold secrets.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        // A body here would be read as the beginning of the next reply. Spec: RFC 9110 §9.3.2.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func reply(to error: any Error, _ context: Context) -> Response {
        let problem = problem(of: error, context)
        if problem.status < 500 {
            logger.notice("refused", metadata: ["request": "\(context.requestID)", "code": "\(problem.code)"])
        }
        var response = Response(
            json: problem.json(issuer: issuer, requestID: context.requestID), status: problem.status)
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

    private func problem(of error: any Error, _ context: Context) -> ProblemDetails {
        switch error {
        case let problem as ProblemDetails: return problem
        case let error as JSONSyntaxError: return ProblemDetails(syntax: error)
        case let error as JSONShapeError: return ProblemDetails(shape: error)
        case let error as HTTPError where error.status == .notFound: return ProblemDetails(.notFound)
        case is NIOTooManyBytesError: return ProblemDetails(.bodyTooLarge)
        case is CancellationError: return ProblemDetails(.unavailable)
        case StoreError.unavailable, StoreError.serializationFailure:
            logger.error("store unavailable", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return ProblemDetails(.unavailable)
        default:
            logger.error("fault", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
            return ProblemDetails(.internalError)
        }
    }
}

extension HTTPField.Name {
    /// Finds the request in the log.
    static let requestID = known("X-Request-Id")
    /// Names a request that must be done once.
    static let idempotencyKey = known("Idempotency-Key")
    /// Tells that a reply is that of an earlier request.
    static let idempotencyReplayed = known("Idempotency-Replayed")
    /// The digest of the body.
    ///
    /// Spec: RFC 9530 §2.
    static let contentDigest = known("Content-Digest")
    /// A signature.
    ///
    /// Spec: RFC 9421 §4.2.
    static let signature = known("Signature")
    /// What a signature covers.
    ///
    /// Spec: RFC 9421 §4.1.
    static let signatureInput = known("Signature-Input")

    private static func known(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("\(name) is the name of a field") }
        return name
    }
}

extension Response {
    /// A reply that holds JSON.
    init(json: JSONValue, status: Int = 200) {
        self.init(bytes: json.encoded, type: "application/json", status: status)
    }

    /// A reply that holds bytes of a media type.
    init(bytes: [UInt8], type: String, status: Int = 200) {
        self.init(
            status: .init(code: status), headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
