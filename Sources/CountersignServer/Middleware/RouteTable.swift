import HTTPTypes
import Hummingbird

/// The routes of all doors.
struct RouteTable {
    /// The methods that the router distinguishes.
    static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options, .trace]

    private let router = Router(context: ServerContext.self)
    private(set) var registered: [RegisteredRoute] = []

    init(_ doors: [any Door]) {
        router.add(middleware: UnknownPaths())
        for door in doors { door.addRoutes(to: &self) }
    }

    mutating func add(
        _ method: HTTPRequest.Method, _ path: String, query known: [String] = [],
        _ handler: @escaping @Sendable (Request, ServerContext) async throws -> Response
    ) {
        registered.append(RegisteredRoute(method: method.rawValue, path: path, query: known))
        router.on(RouterPath(path), method: method, use: handler)
    }

    /// Builds the responder that finds the route of a request.
    ///
    /// Other methods on a known path are refused with a list of the allowed methods. Spec: RFC 9110 §15.5.6.
    func responder() -> any HTTPResponder<ServerContext> {
        for (path, routes) in Dictionary(grouping: registered, by: \.path) {
            let known = routes.map(\.method).sorted()
            let allowed = known.joined(separator: ", ")
            for method in Self.methods where !known.contains(method.rawValue) {
                router.on(RouterPath(path), method: method) { _, _ -> Response in
                    throw RequestFailure.methodNotAllowed(allowed: allowed)
                }
            }
        }
        return router.buildResponder()
    }
}

/// Throws if no route has the path; the framework would otherwise render its own reply.
private struct UnknownPaths: RouterMiddleware {
    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            throw RequestFailure.unknownPath
        }
    }
}
