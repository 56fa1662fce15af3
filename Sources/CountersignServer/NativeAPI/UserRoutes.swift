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
            let externalID = try Self.externalID(try incoming.optionalJSON())
            let key = try incoming.idempotencyKey(of: caller.client.id, ports.hasher)
            let result = try await CreateUser.create(
                externalID: externalID, by: caller, idempotency: key, ports: ports)
            return try reply(result, status: 201, json)
        }
        routes.client(.get, "/v1/users/:user", .users) { [self] caller, incoming in
            try reply(await ShowUser.show(try incoming.user(), to: caller.client, ports: ports))
        }
        routes.client(.patch, "/v1/users/:user", .users) { [self] caller, incoming in
            let changes = try Self.changes(try incoming.json())
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
                let list = types.map { available in
                    JSONValue.members([
                        "type": .string("\(available.type)"),
                        "methods": .array(available.methods.map { .string($0.rawValue) }),
                    ])
                }
                return Response(json: ["types": .array(list)])
            }
        }
    }

    /// Parses changes: an absent member leaves its value unchanged, and null removes the value.
    ///
    /// Spec: RFC 7396 §2.
    private static func changes(_ json: JSONValue) throws -> UpdateUser.Changes {
        var members = try JSONMembers(json)
        let externalID = try externalID(&members)
        let isBlocked = try members.optionalBool("enrollment_blocked")
        try members.refuseUnknown()
        return UpdateUser.Changes(
            externalID: json["external_id"] == nil ? nil : .some(externalID), isEnrollmentBlocked: isBlocked)
    }

    private static func externalID(_ json: JSONValue) throws -> ExternalID? {
        var members = try JSONMembers(json)
        let externalID = try externalID(&members)
        try members.refuseUnknown()
        return externalID
    }

    private static func externalID(_ members: inout JSONMembers) throws -> ExternalID? {
        let text = try members.optionalString("external_id")
        do {
            return try text.map { text throws(TextRefusal) in try ExternalID(text) }
        } catch {
            throw RefusedText(error, at: "/external_id")
        }
    }
}

extension LinkedUser {
    var json: JSONValue {
        UserView(id: id, externalID: externalID?.text, isEnrollmentBlocked: isEnrollmentBlocked, createdAt: createdAt)
            .json
    }
}
