import HTTPTypes
import Hummingbird
import NIOCore

/// Where Keycloak posts to.
enum Door {
    static let path = "/authentication"
    private static let mostBytes = 16 * 1024
    private static let scheme = "Bearer "

    static func router(_ keycloak: Keycloak, _ exchanges: Exchanges) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("\(path)") { request, _ in await reply(to: request, keycloak, exchanges) }
        return router
    }

    /// Looks at a body only after its sender is known.
    private static func reply(to request: Request, _ keycloak: Keycloak, _ exchanges: Exchanges) async -> Response {
        guard let field = request.headers[.authorization], field.hasPrefix(scheme) else { return unauthorized }
        let token: ChannelToken
        do {
            token = try await keycloak.token(String(field.dropFirst(scheme.count)))
        } catch is Keycloak.Unreachable {
            return busy
        } catch {
            return unauthorized
        }
        var request = request
        guard let body = try? await request.collectBody(upTo: mostBytes) else {
            return Response(status: .contentTooLarge)
        }
        guard let wanted = try? ChannelRequest(Array(body.readableBytesView)) else {
            return Response(status: .badRequest)
        }
        switch await exchanges.take(wanted, of: token) {
        case .taken, .repeated: return Response(status: .created)
        case .different: return Response(status: .conflict)
        case .full: return busy
        }
    }

    private static var unauthorized: Response {
        Response(status: .unauthorized, headers: [.wwwAuthenticate: "Bearer"])
    }

    private static var busy: Response {
        Response(status: .serviceUnavailable, headers: [.retryAfter: "10"])
    }
}
