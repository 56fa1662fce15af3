import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The operator's routes for single users, and for the ways by which they sign in.
extension NativeAPI {
    func addAdministrationOfUsers(to routes: inout NativeRoutes) {
        let path = "/v1/admin/users/:user"
        routes.administrator(.get, path) { [self] caller, incoming in
            try reply(await ShowKnownUser.show(try incoming.user(), by: caller.client, ports: ports))
        }
        routes.administrator(.delete, path) { [self] caller, incoming in
            try reply(await DeleteUser.delete(try incoming.user(), by: caller, ports: ports))
        }
        routes.administrator(.get, "\(path)/passkeys") { [self] caller, incoming in
            try reply(await ListPasskeys.list(of: try incoming.user(), by: caller.client, ports: ports))
        }
        routes.administrator(.delete, "\(path)/passkeys/:passkey") { [self] caller, incoming in
            let user = try incoming.user()
            let id: PasskeyID = try incoming.id("passkey", of: .passkey)
            return try reply(await RemovePasskey.remove(id, of: user, by: caller, ports: ports))
        }
        routes.administrator(.get, "\(path)/addresses") { [self] caller, incoming in
            try reply(await ListAddresses.list(of: try incoming.user(), by: caller.client, ports: ports))
        }
        routes.administrator(.delete, "\(path)/addresses/:address") { [self] caller, incoming in
            let user = try incoming.user()
            guard let address = incoming.parameter("address").flatMap({ PersonalAddress(typed: $0) }) else {
                throw RequestRefusal.noSuch(.address)
            }
            return try reply(await RemoveAddress.remove(address, of: user, by: caller, ports: ports))
        }
        routes.administrator(.delete, "\(path)/user-code") { [self] caller, incoming in
            try reply(await RemoveUserCode.remove(of: try incoming.user(), by: caller, ports: ports))
        }
    }
}
