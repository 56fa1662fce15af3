import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import Hummingbird

/// The native API: JSON for relying parties, devices and operators, and what the server says of itself.
///
/// It also answers what is no other door's. Its refusals are problems. Spec: RFC 9457.
final class NativeAPI: Door {
    let ports: Ports
    /// Whether development rules apply: the issuer and the listener are both loopback.
    let isDevelopment: Bool
    let resources: DoorResources
    /// What takes messages to people in development mode; nil elsewhere.
    let developmentOutbox: DevelopmentOutbox?

    /// How many requests wait.
    var waits: Waits { resources.waits }
    /// Ends all waits when the server is asked to stop.
    var shutdown: WaitCanceller { resources.shutdown }

    /// - Parameters:
    ///   - resources: what all doors share.
    ///   - developmentOutbox: what takes messages to people in development mode; nil elsewhere.
    init(_ resources: DoorResources, developmentOutbox: DevelopmentOutbox?) {
        ports = resources.ports
        isDevelopment = resources.isDevelopment
        self.resources = resources
        self.developmentOutbox = developmentOutbox
    }

    var paths: [String] { [] }

    func addRoutes(to table: inout RouteTable) {
        var routes = NativeRoutes(table, self)
        addOperations(to: &routes)
        addPages(to: &routes)
        addChallenges(to: &routes)
        addUsers(to: &routes)
        addEnrollments(to: &routes)
        addLists(to: &routes)
        addExports(to: &routes)
        addDevices(to: &routes)
        addAdministration(to: &routes)
        table = routes.table
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? {
        switch error {
        case let problem as ProblemDetails: rendered(problem, context)
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

    private func rendered(_ problem: ProblemDetails, _ context: ServerContext) -> RenderedRefusal {
        var response = Response(
            json: problem.json(issuer: ports.issuer, requestID: context.requestID), status: problem.status)
        response.headers[.contentType] = ProblemDetails.mediaType
        if let seconds = problem["retry_after"]?.integer { response.headers[.retryAfter] = "\(seconds)" }
        if problem.knownCode == .unauthorized { response.headers[.wwwAuthenticate] = "Basic realm=\"countersign\"" }
        if problem.knownCode == .unsupportedMediaType {
            response.headers[.accept] = "application/json"
            response.headers[.acceptEncoding] = "identity"
        }
        // Which check a device's request or answer has failed helps whoever develops one, and whoever forges one.
        let isTold = isDevelopment && (problem.knownCode == .answerInvalid || problem.knownCode == .signatureInvalid)
        return RenderedRefusal(response: response, code: problem.code, detail: isTold ? problem.detail : nil)
    }
}
