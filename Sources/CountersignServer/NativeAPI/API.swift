import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import Synchronization

/// The native API: who may call which route, and what every route needs.
final class API: Sendable {
    let ports: Ports
    /// Whether development rules apply: the issuer and the listener are both loopback.
    let isDevelopment: Bool
    let waits = Waits()
    /// Ends all waits when the server is asked to stop.
    let shutdown = WaitCanceller()
    let wrongCredentials = WrongCredentials()
    /// Who is believed when it says whom a request is from.
    let proxies: TrustedProxies
    /// Where requests are counted; nil when nobody reads it.
    let counts: RequestCounts?
    /// What takes messages to people in development mode; nil elsewhere.
    let developmentOutbox: DevelopmentOutbox?

    /// An API of these parts.
    ///
    /// - Parameters:
    ///   - ports: what operations need from outside.
    ///   - isDevelopment: whether the issuer and the listener are both loopback.
    ///   - proxies: who is believed when it says whom a request is from.
    ///   - counts: where requests are counted; nil when nobody reads it.
    ///   - developmentOutbox: what takes messages to people in development mode; nil elsewhere.
    init(
        ports: Ports, isDevelopment: Bool, proxies: TrustedProxies = TrustedProxies(), counts: RequestCounts? = nil,
        developmentOutbox: DevelopmentOutbox? = nil
    ) {
        self.ports = ports
        self.isDevelopment = isDevelopment
        self.proxies = proxies
        self.counts = counts
        self.developmentOutbox = developmentOutbox
    }

    /// What one waits for: such a wait ends when the caller hangs up or the server is asked to stop.
    ///
    /// - Throws: `CancellationError` when the caller has hung up.
    func changes(for caller: ServerContext) throws(CancellationError) -> any ChangeNotifier {
        guard let connection = ExchangeHandler.canceller(of: caller.channel) else { throw CancellationError() }
        return CancellableChanges(changes: ports.changes, cancellers: [connection, shutdown])
    }

    /// All routes.
    func router() -> Router<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: UnknownPaths())
        var routes = Routes(router: router, api: self)
        addRoutes(to: &routes)
        routes.refuseOtherMethods()
        return router
    }

    /// What is served, for a comparison with the contract.
    var registeredRoutes: [RegisteredRoute] {
        var routes = Routes(router: Router(context: ServerContext.self), api: self)
        addRoutes(to: &routes)
        return routes.registered
    }

    private func addRoutes(to routes: inout Routes) {
        addDocuments(to: &routes)
        addChallenges(to: &routes)
        addUsers(to: &routes)
        addEnrollments(to: &routes)
        addLists(to: &routes)
        addExports(to: &routes)
        addDevices(to: &routes)
        addAdministration(to: &routes)
    }
}

/// One route: a method on a path, with the query parameters it knows.
package struct RegisteredRoute: Hashable, Sendable {
    /// The method.
    package let method: String
    /// The path, its parameters as `:name`.
    package let path: String
    /// The names of the query parameters.
    package let query: [String]
}

/// Registers routes by who may call them, so that a handler can only be reached by a caller that was let in.
struct Routes {
    /// The methods that the router tells apart.
    static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options, .trace]

    private let router: Router<ServerContext>
    private let api: API
    private(set) var registered: [RegisteredRoute] = []

    init(router: Router<ServerContext>, api: API) {
        self.router = router
        self.api = api
    }

    /// A route for everybody.
    mutating func anyone(
        _ method: HTTPRequest.Method, _ path: String, query known: [String] = [],
        _ handler: @escaping @Sendable (Incoming) async throws -> Response
    ) {
        add(method, path, query: known, admitting: { _ in () }, handler: { _, incoming in try await handler(incoming) })
    }

    /// A route whose callers are let in first.
    ///
    /// What is wrong with a request is told only to who may make it; a query parameter that is not among the known
    /// ones is refused, so that a typo never passes silently.
    private mutating func add<Admitted: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, query known: [String],
        admitting admit: @escaping @Sendable (Incoming) async throws -> Admitted,
        handler: @escaping @Sendable (Admitted, Incoming) async throws -> Response
    ) {
        registered.append(RegisteredRoute(method: method.rawValue, path: path, query: known))
        router.on(RouterPath(path), method: method) { request, context in
            let incoming = try await Incoming(request, context)
            let admitted = try await admit(incoming)
            try incoming.refuseParameters(besides: known)
            return try await handler(admitted, incoming)
        }
    }

    /// A route for a confidential client with a right, or the operator's built-in one.
    mutating func client(
        _ method: HTTPRequest.Method, _ path: String, _ right: Right, query known: [String] = [],
        _ handler: @escaping @Sendable (Client, Incoming) async throws -> Response
    ) {
        caller(method, path, right, query: known) { caller, incoming in try await handler(caller.client, incoming) }
    }

    /// A route for a client with a right that may have to wait: for as long as it would be let in.
    mutating func caller(
        _ method: HTTPRequest.Method, _ path: String, _ right: Right, query known: [String] = [],
        _ handler: @escaping @Sendable (ClientCaller, Incoming) async throws -> Response
    ) {
        let admit = { @Sendable [api] (incoming: Incoming) in
            let caller = try await api.client(of: incoming)
            guard caller.client.rights.contains(right) else { throw ProblemDetails(caller: .rightMissing(right)) }
            return caller
        }
        add(method, path, query: known, admitting: admit, handler: handler)
    }

    /// A route for operators.
    mutating func administrator(
        _ method: HTTPRequest.Method, _ path: String, query known: [String] = [],
        _ handler: @escaping @Sendable (Client, Incoming) async throws -> Response
    ) {
        let admit = { @Sendable [api] (incoming: Incoming) in
            let client = try await api.client(of: incoming).client
            guard client.isOperator else { throw ProblemDetails(.rightMissing, members: ["right": "admin"]) }
            return client
        }
        add(method, path, query: known, admitting: admit, handler: handler)
    }

    /// A route for an enrolled device.
    mutating func device(
        _ method: HTTPRequest.Method, _ path: String, query known: [String] = [],
        _ handler: @escaping @Sendable (DeviceCall, Incoming) async throws -> Response
    ) {
        let admit = { @Sendable [api] (incoming: Incoming) in
            switch try await VerifyDevice.verify(api.deviceRequest(incoming), ports: api.ports) {
            case .success(let call): return call
            case .failure(let refusal): throw try await api.problem(refusal)
            }
        }
        add(method, path, query: known, admitting: admit, handler: handler)
    }

    /// Answers every other method on a known path with 405 and the methods that work.
    ///
    /// Spec: RFC 9110 §15.5.6.
    func refuseOtherMethods() {
        for (path, routes) in Dictionary(grouping: registered, by: \.path) {
            let known = routes.map(\.method).sorted()
            let allowed = known.joined(separator: ", ")
            for method in Self.methods where !known.contains(method.rawValue) {
                router.on(RouterPath(path), method: method) { _, _ -> Response in
                    throw ProblemDetails(.methodNotAllowed, members: ["allowed": .string(allowed)])
                }
            }
        }
    }
}

/// How many requests wait, by caller.
final class Waits: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// How many wait now.
    var count: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// Runs something that may take long, unless the caller has too much of that under way.
    func waiting<Result: Sendable>(
        as caller: String, atMost limit: Int, _ body: () async throws -> Result
    ) async throws -> Result {
        try begin(caller, limit)
        defer { end(caller) }
        return try await body()
    }

    private func begin(_ caller: String, _ limit: Int) throws(ProblemDetails) {
        let isAdmitted = counts.withLock { counts in
            guard counts[caller, default: 0] < limit else { return false }
            counts[caller, default: 0] += 1
            return true
        }
        guard isAdmitted else { throw ProblemDetails(.tooManyWaits, members: ["retry_after": 5]) }
    }

    private func end(_ caller: String) {
        counts.withLock { counts in
            let rest = counts[caller, default: 1] - 1
            counts[caller] = rest == 0 ? nil : rest
        }
    }
}
