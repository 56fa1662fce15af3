import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import Hummingbird

/// The native API: JSON for relying parties, devices and operators, with the pages and status of the server.
///
/// It also answers on paths that no other door has. Its refusals are problems. Spec: RFC 9457.
final class NativeAPI: Door {
    let ports: Ports
    /// Whether development rules apply, because both the issuer and the listener are loopback.
    let isDevelopment: Bool
    let resources: DoorResources
    /// Holds messages to people in development mode; nil otherwise.
    let developmentOutbox: DevelopmentOutbox?

    var waits: Waits { resources.waits }
    /// Ends all waits when the server is asked to stop.
    var shutdown: WaitCanceller { resources.shutdown }

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
        // Only in development mode does the log name the failed check, which would also help forgers.
        let isTold = isDevelopment && (problem.knownCode == .answerInvalid || problem.knownCode == .signatureInvalid)
        return RenderedRefusal(response: response, code: problem.code, detail: isTold ? problem.detail : nil)
    }
}
