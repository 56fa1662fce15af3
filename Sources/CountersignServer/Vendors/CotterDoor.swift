import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The calls of apps, pages and servers that were written for Cotter.
///
/// Each translates to operations that our own calls use as well. A client makes them if an operator has let it
/// (``Vendor/cotter``). Who only names itself by `API_KEY_ID` must be a client that keeps no secret; `API_SECRET_KEY` is
/// never read. The page to which browsers are sent is another door's; see ``SignInDoor``.
///
/// Spec: docs/decisions/0108-cotters-door.md.
final class CotterDoor: Door {
    static let path = "/api/v0"

    let paths = [CotterDoor.path]
    let resources: DoorResources

    var ports: Ports { resources.ports }

    init(_ resources: DoorResources) { self.resources = resources }

    func addRoutes(to table: inout RouteTable) {
        addIdentity(to: &table)
        addTokens(to: &table)
        addEvents(to: &table)
        addUsers(to: &table)
        addRecords(to: &table)
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? { CotterError(error)?.rendered }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        CotterError(failure, requestID: context.requestID).rendered
    }

    /// A client that calls.
    struct Caller: Sendable {
        let client: Client
        /// The client's id, as it has written it.
        let key: String
        /// Whether it has shown that it is the client.
        let isAuthenticated: Bool
    }

    /// The client that calls, if it may.
    func caller(of incoming: Incoming) async throws -> Caller {
        guard let key = incoming.headers[.apiKeyID], let id = ClientID(cotter: key) else { throw CotterError.apiKey }
        let form = try FormFields(FormText.encoded([("client_id", "\(id)")])[...])
        let (client, party) = try await resources.caller(of: incoming, form)
        // check: CotterSwitchTests.off
        guard client.vendors.contains(.cotter), client.disabledAt == nil else { throw CotterError.apiKey }
        // An app's own server has the secret of the app's client.
        let isAuthenticated = incoming.headers[.authorization] != nil || party?.profile.isConfidential == true
        return Caller(client: client, key: key, isAuthenticated: isAuthenticated)
    }

    /// Adds a call that no page's script makes.
    func add(
        _ method: HTTPRequest.Method, _ path: String, to table: inout RouteTable,
        _ reply: @escaping @Sendable (Incoming, Caller) async throws -> Response
    ) {
        table.add(method, Self.path + path) { [self] request, context in
            let incoming = try await Incoming(request, context)
            return try await reply(incoming, try await caller(of: incoming))
        }
    }

    /// The object in a request's body; members that no call knows are ignored.
    func body(of incoming: Incoming) throws(CotterError) -> JSONObject {
        guard incoming.hasContent("application/json"), let object = (try? JSONValue(parsing: incoming.body))?.object
        else { throw CotterError(.malformed, "the body must be a JSON object") }
        return object
    }

    // MARK: Pages' scripts

    /// The fields that a page's script may send.
    private static let sentFields = "API_KEY_ID, API_SECRET_KEY, Authorization, Content-Type"
    /// For how many seconds a browser need not ask again.
    private static let remembered = "600"

    /// Adds a call whose replies the scripts of a client's own pages may read, and what browsers ask before it.
    ///
    /// An error says nothing that is not known, so that any client's pages may read it. Like the keys, the answers to
    /// scripts are there while any client has the calls.
    ///
    /// Spec: docs/decisions/0072-signing-in.md.
    func addShared(
        _ path: String, to table: inout RouteTable,
        _ reply: @escaping @Sendable (Incoming) async throws -> (Response, ClientID)
    ) {
        table.add(.post, path) { [self] request, context in
            let incoming = try await Incoming(request, context)
            guard let origin = incoming.headers[.origin] else { return try await reply(incoming).0 }
            do {
                var (response, client) = try await reply(incoming)
                response.headers[.vary] = "Origin"
                let isAllowed = try await AllowOrigin.isAllowed(origin, for: client, ports: ports)
                // check: CotterScriptTests.others
                guard isAllowed else { return response }
                response.headers[.accessControlAllowOrigin] = origin
                return response
            } catch {
                guard var refusal = CotterError(error), try await VendorSwitch.isOn(.cotter, ports: ports),
                    try await AllowOrigin.isAllowed(origin, for: nil, ports: ports)
                else { throw error }
                refusal.origin = origin
                throw refusal
            }
        }
        table.add(.options, path) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let isOn = try await VendorSwitch.isOn(.cotter, ports: ports)
            // check: CotterSwitchTests.asked
            guard isOn else { throw RequestFailure.unknownPath }
            var response = Response(status: .noContent)
            response.headers[.vary] = "Origin"
            guard let origin = incoming.headers[.origin],
                try await AllowOrigin.isAllowed(origin, for: nil, ports: ports)
            else { return response }
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlAllowMethods] = "POST"
            response.headers[.accessControlAllowHeaders] = Self.sentFields
            response.headers[.accessControlMaxAge] = Self.remembered
            return response
        }
    }
}
