import CountersignCore
import CountersignWire
import HTTPTypes
import Hummingbird

/// Registers each route with the kind of caller that may use it, so a handler runs only for an authorized caller.
struct NativeRoutes {
    private(set) var table: RouteTable
    private let api: NativeAPI

    init(_ table: RouteTable, _ api: NativeAPI) {
        self.table = table
        self.api = api
    }

    /// Adds a route without authentication.
    mutating func anyone(
        _ method: HTTPRequest.Method, _ path: String, query known: [String] = [],
        _ handler: @escaping @Sendable (Incoming) async throws -> Response
    ) {
        add(method, path, query: known, admitting: { _ in () }, handler: { _, incoming in try await handler(incoming) })
    }

    /// Adds a route whose callers are authorized first.
    ///
    /// Only an authorized caller learns what is wrong with a request. An unknown query parameter is refused, so that a
    /// typing error is never ignored.
    private mutating func add<Admitted: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, query known: [String],
        admitting admit: @escaping @Sendable (Incoming) async throws -> Admitted,
        confirming confirm: @escaping @Sendable (Admitted) async throws -> Void = { _ in },
        handler: @escaping @Sendable (Admitted, Incoming) async throws -> Response
    ) {
        table.add(method, path, query: known) { request, context in
            let incoming = try await Incoming(request, context)
            let admitted = try await admit(incoming)
            do {
                try incoming.refuseParameters(besides: known)
                return try await handler(admitted, incoming)
            } catch {
                try await confirm(admitted)
                throw error
            }
        }
    }

    /// Adds a route for clients with a right.
    mutating func client(
        _ method: HTTPRequest.Method, _ path: String, _ right: Right, query known: [String] = [],
        _ handler: @escaping @Sendable (ClientCaller, Incoming) async throws -> Response
    ) {
        let admit = { @Sendable [api] (incoming: Incoming) in
            let caller = try await api.client(of: incoming)
            guard caller.has(right) else { throw RequestRefusal.rightMissing(right.rawValue) }
            return caller
        }
        add(method, path, query: known, admitting: admit, handler: handler)
    }

    /// Adds a route for clients with a right, whose operation checks the caller's credential itself.
    mutating func credential(
        _ method: HTTPRequest.Method, _ path: String, _ right: Right, query known: [String] = [],
        _ handler: @escaping @Sendable (ClientCredential, Incoming) async throws -> Response
    ) {
        add(
            method, path, query: known, admitting: { [api] in try await api.credential(of: $0, needing: right) },
            confirming: { [api] in try await api.confirm($0, having: right) }, handler: handler)
    }

    /// Adds a route for operators.
    mutating func administrator(
        _ method: HTTPRequest.Method, _ path: String, query known: [String] = [],
        _ handler: @escaping @Sendable (ClientCaller, Incoming) async throws -> Response
    ) {
        let admit = { @Sendable [api] (incoming: Incoming) in
            let caller = try await api.client(of: incoming)
            guard caller.client.isOperator else { throw RequestRefusal.rightMissing("admin") }
            return caller
        }
        add(method, path, query: known, admitting: admit, handler: handler)
    }

    /// Adds a route for enrolled devices.
    mutating func device(
        _ method: HTTPRequest.Method, _ path: String, query known: [String] = [],
        _ handler: @escaping @Sendable (DeviceCall, Incoming) async throws -> Response
    ) {
        let admit = { @Sendable [api] (incoming: Incoming) in
            switch try await VerifyDevice.verify(api.deviceRequest(incoming), ports: api.ports) {
            case .verified(let call): return call
            case .refused(let refusal): throw try await api.problem(refusal)
            }
        }
        add(method, path, query: known, admitting: admit, handler: handler)
    }
}
