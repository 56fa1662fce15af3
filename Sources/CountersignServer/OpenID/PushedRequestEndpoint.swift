import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// Where a client pushes what it will send a browser for, so that no browser carries it.
///
/// Spec: RFC 9126 §2.
extension OAuthDoor {
    func addPushedRequests(to table: inout RouteTable) {
        addShared(.post, "/oauth2/par", to: &table) { [self] incoming in
            let form = try FormFields(form: incoming)
            let client = try await client(of: incoming, form)
            let seconds = try await PushedRequest.count(by: client, from: incoming.context.network, ports: ports)
            if let seconds {
                throw OAuthError(
                    .temporarilyUnavailable, "too many requests", status: 429, retryAfter: seconds.value)
            }
            return (try await push(form, by: client), client)
        }
    }

    /// Spec: RFC 9126 §2.1, §2.2.
    private func push(_ form: FormFields, by client: ClientID) async throws -> Response {
        // check: PushedRequestTests.refused
        guard form["request_uri"] == nil else {
            throw OAuthError(.invalidRequest, "request_uri must not be pushed")
        }
        // A client that has authenticated need not name itself again; another's name was refused.
        let named = form.setting("client_id", to: "\(client)")
        let (_, checked) = try await AuthorizationChecks.check(pushed: named, ports: ports)
        let parameters = checked.query(of: AuthorizationChecks.parameters)
        guard let uri = try PushedRequest.seal(parameters, of: client, ports: ports) else {
            throw OAuthError(.invalidRequest, "the request is too long", status: 413)
        }
        return Response(
            json: ["request_uri": .string(uri), "expires_in": .integer(PushedRequest.lifetime.value)], status: 201)
    }
}
