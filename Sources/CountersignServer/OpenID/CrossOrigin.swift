import CountersignCore
import CountersignWire
import HTTPTypes
import Hummingbird

/// Which pages' scripts may read the replies of the endpoints that programs call.
///
/// Browsers send no cookies along, and a client that keeps no secret names itself. So this protects no secret of ours; it
/// keeps a page from using the tokens of another client's pages. Spec: Fetch Standard, *CORS protocol*;
/// docs/decisions/0072-signing-in.md.
extension OAuthDoor {
    /// The endpoints that a page in a browser calls, with their methods.
    private static let shared: [(path: String, methods: String)] = [
        ("/oauth2/token", "POST"), ("/oauth2/par", "POST"), ("/oauth2/revoke", "POST"),
        ("/oauth2/userinfo", "GET, POST"),
    ]
    /// For how many seconds a browser need not ask again.
    private static let remembered = "600"
    /// The fields of a reply that scripts may read besides the usual ones.
    ///
    /// Spec: RFC 9449 §8.
    static let exposed = "\(KeyProof.nonceField), WWW-Authenticate"

    /// Answers what browsers ask before a page's request: it names no client, so the origin may be that of any.
    func addPreflights(to table: inout RouteTable) {
        for (path, methods) in Self.shared {
            table.add(.options, path) { [self] request, context in
                let incoming = try await Incoming(request, context)
                var response = Response(status: .noContent)
                response.headers[.vary] = "Origin"
                guard let origin = incoming.headers[.origin] else { return response }
                let isAllowed = try await AllowOrigin.isAllowed(origin, for: nil, ports: ports)
                // check: CrossOriginTests.preflights
                guard isAllowed else { return response }
                response.headers[.accessControlAllowOrigin] = origin
                response.headers[.accessControlAllowMethods] = methods
                response.headers[.accessControlAllowHeaders] = "Authorization, Content-Type, \(KeyProof.field)"
                response.headers[.accessControlMaxAge] = Self.remembered
                return response
            }
        }
    }

    /// Adds an endpoint whose replies the scripts of a client's own pages may read.
    ///
    /// An error names no client, and says nothing that is not known, so that any client's pages may read it.
    ///
    /// - Parameter reply: makes the reply, and says which client gets it.
    func addShared(
        _ method: HTTPRequest.Method, _ path: String, to table: inout RouteTable,
        _ reply: @escaping @Sendable (Incoming) async throws -> (Response, ClientID)
    ) {
        table.add(method, path) { [self] request, context in
            let incoming = try await Incoming(request, context)
            return try await shared(incoming) { try await reply(incoming) }
        }
    }

    /// A reply that the scripts of a client's own pages may read.
    func shared(
        _ incoming: Incoming, _ reply: () async throws -> (Response, ClientID)
    ) async throws -> Response {
        guard let origin = incoming.headers[.origin] else { return try await reply().0 }
        do {
            var (response, client) = try await reply()
            response.headers[.vary] = "Origin"
            let isAllowed = try await AllowOrigin.isAllowed(origin, for: client, ports: ports)
            // check: CrossOriginTests.others
            guard isAllowed else { return response }
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] = Self.exposed
            return response
        } catch var error as OAuthError {
            let isAllowed = try await AllowOrigin.isAllowed(origin, for: nil, ports: ports)
            // check: CrossOriginTests.others
            guard isAllowed else { throw error }
            error.origin = origin
            throw error
        }
    }
}
