import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The routes of relying parties for users that are linked to them.
extension NativeAPI {
    func addUsers(to routes: inout NativeRoutes) {
        routes.client(.post, "/v1/users", .users) { [self] caller, incoming in
            let request = try UserRequest(incoming.optionalJSON())
            let addresses = ClaimedAddresses(
                email: request.email.map(Optional.some), phone: request.phone.map(Optional.some))
            let key = try incoming.idempotencyKey(of: caller.client.id, ports.hasher)
            let result = try await CreateUser.create(
                externalID: request.externalID, addresses, by: caller, idempotency: key, ports: ports)
            return try reply(result, status: 201, json)
        }
        routes.client(.get, "/v1/users/:user", .users) { [self] caller, incoming in
            try reply(await ShowUser.show(try incoming.user(), to: caller.client, ports: ports))
        }
        routes.client(.patch, "/v1/users/:user", .users) { [self] caller, incoming in
            let update = try UserUpdate(incoming.json())
            let changes = UpdateUser.Changes(
                externalID: update.externalID, isEnrollmentBlocked: update.isEnrollmentBlocked,
                addresses: ClaimedAddresses(email: update.email, phone: update.phone), claims: update.claims)
            return try reply(await UpdateUser.update(try incoming.user(), changes, by: caller, ports: ports))
        }
        routes.client(.delete, "/v1/users/:user", .users) { [self] caller, incoming in
            try reply(await UnlinkUser.unlink(try incoming.user(), from: caller, ports: ports))
        }
        routes.client(.get, "/v1/users/:user/methods", .challenges) { [self] caller, incoming in
            // A malformed reference names no user, and is answered like a user without devices.
            guard let user = incoming.parameter("user").flatMap({ UserReference($0) }) else {
                return Response(json: ["types": []])
            }
            switch try await AvailableMethods.list(for: user, client: caller.client, ports: ports) {
            case .types(let types):
                let views = types.map { AvailableTypeView(type: $0.type, methods: $0.methods.map(\.rawValue)) }
                return Response(json: ["types": .array(views.map(\.json))])
            }
        }
    }
}

extension LinkedUser {
    var json: JSONValue { json(UserAddresses()) }

    func json(_ addresses: UserAddresses, _ claims: UserClaims? = nil) -> JSONValue {
        UserView(
            id: id, externalID: externalID?.text, email: addresses[.email].map(UserView.Address.init),
            phone: addresses[.phone].map(UserView.Address.init), isEnrollmentBlocked: isEnrollmentBlocked,
            claims: claims, createdAt: createdAt
        ).json
    }
}

extension UserView.Address {
    fileprivate init(_ entry: UserAddresses.Entry) {
        self.init("\(entry.address)", isVerified: entry.isVerified)
    }
}
