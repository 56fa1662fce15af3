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
            return try reply(await SetRelyingParty.set(party, by: caller.actor, ports: ports))
        }
        routes.administrator(.get, path) { [self] _, incoming in
            let id = try incoming.client()
            return try reply(await ShowRelyingParty.show(id, ports: ports))
        }
        routes.administrator(.delete, path) { [self] caller, incoming in
            let id = try incoming.client()
            return try reply(await RemoveRelyingParty.remove(id, by: caller.actor, ports: ports))
        }
    }
}
