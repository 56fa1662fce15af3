import CountersignCore
import HTTPTypes
import Hummingbird

/// Registers routes by who may call them, so that a handler can only be reached by a caller that was let in.
struct NativeRoutes {
    private(set) var table: RouteTable
    private let api: NativeAPI

    init(_ table: RouteTable, _ api: NativeAPI) {
        self.table = table
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
        table.add(method, path, query: known) { request, context in
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
            guard caller.client.rights.contains(right) else { throw RequestRefusal.rightMissing(right.rawValue) }
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
            guard client.isOperator else { throw RequestRefusal.rightMissing("admin") }
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
            case .verified(let call): return call
            case .refused(let refusal): throw try await api.problem(refusal)
            }
        }
        add(method, path, query: known, admitting: admit, handler: handler)
    }
}
