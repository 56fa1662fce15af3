import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies to requests that end by a thrown error, or that no handler answered.
extension NativeAPI {
    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? {
        switch error {
        case let problem as ProblemDetails: rendered(problem, context)
        // Spec: RFC 6750 §3.1.
        case RequestRefusal.invalidToken(let scheme):
            rendered(
                ProblemDetails(request: .invalidToken(scheme)), context, challenge: scheme.challenge("invalid_token"))
        case RequestRefusal.noToken:
            rendered(ProblemDetails(request: .noToken), context, challenge: TokenScheme.challenges)
        // Spec: RFC 9449 §7.1, §9.
        case let error as UnprovedToken:
            rendered(
                ProblemDetails(.unauthorized, detail: error.refusal.description), context,
                challenge: TokenScheme.dpop.challenge(error.refusal.code),
                nonce: error.refusal == .nonceMissing ? ProvedKey.nonce(ports: ports) : nil)
        case let refusal as RequestRefusal: rendered(ProblemDetails(request: refusal), context)
        case let error as JSONSyntaxError: rendered(ProblemDetails(syntax: error), context)
        case let error as JSONShapeError: rendered(ProblemDetails(shape: error), context)
        case let error as RefusedText: rendered(ProblemDetails(text: error), context)
        case let error as Waits.TooMany: rendered(ProblemDetails(waits: error), context)
        default: nil
        }
    }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        rendered(ProblemDetails(failure: failure), context)
    }

    private func rendered(
        _ problem: ProblemDetails, _ context: ServerContext, challenge: String = "Basic realm=\"countersign\"",
        nonce: String? = nil
    ) -> RenderedRefusal {
        var headers: HTTPFields = [.contentType: ProblemDetails.mediaType]
        if let seconds = problem["retry_after"]?.integer { headers[.retryAfter] = "\(seconds)" }
        if problem.knownCode == .unauthorized { headers[.wwwAuthenticate] = challenge }
        headers[.keyProofNonce] = nonce
        if problem.knownCode == .unsupportedMediaType {
            headers[.accept] = "application/json"
            headers[.acceptEncoding] = "identity"
        }
        // Only in development mode does the log name the failed check, which would also help forgers.
        let isTold = isDevelopment && (problem.knownCode == .answerInvalid || problem.knownCode == .signatureInvalid)
        return RenderedRefusal(
            status: problem.status, headers: headers,
            body: problem.json(issuer: ports.issuer, requestID: context.requestID).encoded, code: problem.code,
            detail: isTold ? problem.detail : nil)
    }
}
