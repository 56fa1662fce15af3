import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The operator's routes for clients that use the OpenID provider.
extension NativeAPI {
    func addRelyingParties(to routes: inout NativeRoutes) {
        let path = "/v1/admin/clients/:client/openid"
        routes.administrator(.put, path) { [self] caller, incoming in
            let id = try incoming.client()
            let party = try RelyingParty(incoming.json(), of: id, isDevelopment: isDevelopment)
            return try reply(await SetRelyingParty.set(party, by: caller.actor, ports: ports), setting: party)
        }
        routes.administrator(.get, path) { [self] _, incoming in
            let id = try incoming.client()
            return try reply(await ShowRelyingParty.show(id, ports: ports))
        }
        routes.administrator(.delete, path) { [self] caller, incoming in
            let id = try incoming.client()
            return try reply(await RemoveRelyingParty.remove(id, by: caller.actor, ports: ports))
        }
        addLooks(to: &routes)
    }

    private func addLooks(to routes: inout NativeRoutes) {
        let path = "/v1/admin/clients/:client/openid/look"
        routes.administrator(.put, path) { [self] caller, incoming in
            let id = try incoming.client()
            let request = SetLook.Request(try LookRequest(incoming.json()))
            return try reply(await SetLook.set(request, of: id, by: caller.actor, ports: ports), of: id)
        }
        routes.administrator(.get, path) { [self] _, incoming in
            let id = try incoming.client()
            return try reply(await ShowLook.show(id, ports: ports), of: id)
        }
        routes.administrator(.delete, path) { [self] caller, incoming in
            let id = try incoming.client()
            return try reply(await RemoveLook.remove(of: id, by: caller.actor, ports: ports))
        }
    }
}

extension SetLook.Request {
    /// What the body of `PUT /v1/admin/clients/{client}/openid/look` asks.
    fileprivate init(_ request: LookRequest) {
        self.init(
            logo: request.logo, accent: request.accent.map { Colours(light: $0.light, dark: $0.dark) })
    }
}
