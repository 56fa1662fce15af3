import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// Users, for the clients linked to them.
extension API {
    func addUsers(to routes: inout Routes) {
        routes.client(.post, "/v1/users", .users) { [self] client, incoming in
            let externalID = try Self.externalID(try incoming.optionalJSON())
            let key = try incoming.idempotencyKey(of: client.id)
            let result = try await ManageUsers.create(
                externalID: externalID, by: client, idempotency: key, ports: ports
            ) { RecordedReply(status: 201, body: $0.json.encoded) }
            return try Self.reply(result, status: 201, Self.json)
        }
        routes.client(.get, "/v1/users/:user", .users) { [self] client, incoming in
            guard let user = try await ManageUsers.show(try incoming.user(), to: client, ports: ports) else {
                throw ProblemDetails(.userNotFound)
            }
            return Response(json: user.json)
        }
        routes.client(.patch, "/v1/users/:user", .users) { [self] client, incoming in
            let json = try incoming.json()
            let externalID = try Self.externalID(json)
            let reference = try incoming.user()
            // What a change does not name stays as it is; null removes it. Spec: RFC 7396 §2.
            guard json["external_id"] != nil else {
                let user = try await ManageUsers.show(reference, to: client, ports: ports)
                return Response(json: try Self.json(user.map(ManageUsers.Outcome.user) ?? .notFound))
            }
            let outcome = try await ManageUsers.rename(reference, to: externalID, by: client, ports: ports)
            return Response(json: try Self.json(outcome))
        }
        routes.client(.delete, "/v1/users/:user", .users) { [self] client, incoming in
            guard try await ManageUsers.unlink(try incoming.user(), from: client, ports: ports) else {
                throw ProblemDetails(.userNotFound)
            }
            return Response(status: .noContent)
        }
        routes.client(.get, "/v1/users/:user/methods", .challenges) { [self] client, incoming in
            // What cannot name a user names none, and is answered like a user without devices.
            guard let user = incoming.parameter("user").flatMap({ UserReference($0) }) else {
                return Response(json: ["types": []])
            }
            let types = try await AvailableMethods.list(for: user, client: client, ports: ports)
            let list = types.map { type, methods in
                JSONValue.members([
                    "type": .string("\(type)"), "methods": .array(methods.map { .string($0.rawValue) }),
                ])
            }
            return Response(json: ["types": .array(list)])
        }
    }

    private static func externalID(_ json: JSONValue) throws -> ExternalID? {
        var members = try JSONMembers(json)
        let text = try members.optionalString("external_id")
        try members.refuseUnknown()
        do {
            return try text.map { text throws(TextRefusal) in try ExternalID(text) }
        } catch {
            throw RefusedText(error, at: "/external_id")
        }
    }

    private static func json(_ outcome: ManageUsers.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .user(let user): user.json
        case .externalIDTaken: throw ProblemDetails(.externalIDTaken)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }
}

extension LinkedUser {
    fileprivate var json: JSONValue {
        .members([
            "id": .string("\(id)"), "external_id": externalID.map { .string($0.text) },
            "created_at": .string("\(createdAt)"),
        ])
    }
}
