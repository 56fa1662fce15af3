import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// What operators call.
extension API {
    private static let eventPage = 100

    func addAdministration(to routes: inout Routes) {
        routes.administrator(.post, "/v1/admin/clients") { [self] caller, incoming in
            let request = try CreateClient.Request(incoming.json(), isDevelopment: isDevelopment)
            let key = try incoming.idempotencyKey(of: caller.id)
            let result = try await CreateClient.create(request, idempotency: key, ports: ports) {
                RecordedReply(status: 201, body: $0.json.encoded)
            }
            return try Self.reply(result, status: 201) { created throws(ProblemDetails) in created.json }
        }
        routes.administrator(.get, "/v1/admin/clients") { [ports] _, _ in
            let clients = try await ports.store.read { try $0.clients() }
            return Response(json: ["clients": .array(clients.map(\.json))])
        }
        routes.administrator(.get, "/v1/admin/types") { [ports] _, _ in
            Response(json: ["types": .array(try await ManageTypes.list(ports: ports).map(\.json))])
        }
        routes.administrator(.put, "/v1/admin/types/:type") { [ports] caller, incoming in
            guard let name = incoming.parameter("type").flatMap({ TypeName($0) }) else {
                throw ProblemDetails(.typeNotFound, detail: "a name has lower case letters, digits, - and _")
            }
            let type = try ChallengeType(incoming.json(), name: name)
            try await ManageTypes.set(type, by: caller, ports: ports)
            return Response(json: type.json)
        }
        addOutbox(to: &routes)
        routes.administrator(.get, "/v1/admin/events", query: ["cursor"]) { [ports] _, incoming in
            guard let place = Int64(incoming.query["cursor"] ?? "0"), place >= 0 else {
                throw ProblemDetails(
                    .invalidParameter, detail: "cursor must be that of an earlier page",
                    members: ["parameter": "cursor"])
            }
            let events = try await ports.store.read { try $0.auditEvents(after: place, limit: Self.eventPage) }
            return Response(
                json: .members([
                    "events": .array(events.map(\.event.json)),
                    "cursor": .string("\(events.last?.place ?? place)"),
                ]))
        }
    }
}

extension API {
    private static let messagePage = 100

    private func addOutbox(to routes: inout Routes) {
        routes.administrator(.get, "/v1/admin/outbox", query: ["state", "cursor"]) { [ports] _, incoming in
            guard let state = OutboxEntry.State(rawValue: incoming.query["state"] ?? "dead") else {
                throw ProblemDetails(
                    .invalidParameter, detail: "state must be \"dead\" or \"waiting\"", members: ["parameter": "state"])
            }
            let cursor = incoming.query["cursor"]
            let place = cursor.flatMap { EventID($0) }
            guard cursor == nil || place != nil else {
                throw ProblemDetails(
                    .invalidParameter, detail: "cursor must be that of an earlier page",
                    members: ["parameter": "cursor"])
            }
            let entries = try await ManageOutbox.list(state, after: place, limit: Self.messagePage, ports: ports)
            return Response(
                json: .members([
                    "messages": .array(entries.map(\.json)),
                    "cursor": (entries.last?.id ?? place).map { .string("\($0)") },
                ]))
        }
        routes.administrator(.post, "/v1/admin/outbox/:message/retry") { [ports] caller, incoming in
            let id: EventID = try incoming.id("message", orElse: .messageNotFound)
            switch try await ManageOutbox.retry(id, by: caller, ports: ports) {
            case .queued: return Response(status: .noContent)
            case .notFound: throw ProblemDetails(.messageNotFound)
            case .over: throw ProblemDetails(.messageOver)
            }
        }
    }
}

extension OutboxEntry {
    fileprivate var json: JSONValue {
        .members([
            "id": .string("\(id)"), "kind": .string(kind), "client": .string("\(client)"),
            "state": .string(state.rawValue), "due_at": state == .waiting ? .string("\(dueAt)") : nil,
            "expires_at": .string("\(expiresAt)"), "attempts": .integer(Int64(attempts)),
            "last_error": lastError.map(JSONValue.string),
        ])
    }
}

extension CreateClient.Request {
    /// Reads the body of `POST /v1/admin/clients`.
    fileprivate init(_ json: JSONValue, isDevelopment: Bool) throws {
        var members = try JSONMembers(json)
        let name: ClientName
        do {
            name = try ClientName(try members.string("name"))
        } catch let refusal as TextRefusal {
            throw ProblemDetails(text: refusal, pointer: "/name")
        }
        let rights = try members.optional("rights", "an array of \"challenges\", \"users\" and \"enrollments\"") {
            let rights = $0.array?.map { $0.string.flatMap(Right.init(rawValue:)) }
            return rights.flatMap { $0.contains(nil) ? nil : Set($0.compactMap { $0 }) }
        }
        let callbackURIs = try members.array("callback_uris").map { element in
            guard let uri = element.value.string.flatMap({ CallbackURI($0, isDevelopment: isDevelopment) }) else {
                throw JSONShapeError.invalid(
                    pointer: element.pointer, expected: "an https URL (http to loopback in development mode)")
            }
            return uri
        }
        let waives = try members.optionalBool("waive_enrollment_approval") ?? false
        try members.refuseUnknown()
        self.init(
            name: name, rights: rights ?? Set(Right.allCases), callbackURIs: callbackURIs,
            waivesEnrollmentApproval: waives)
    }
}

extension CreateClient.Created {
    fileprivate var json: JSONValue {
        var object = client.json.object ?? [:]
        object["client_secret"] = .string(secret.reveal())
        object["callback_secret"] = .string(callbackSecret.reveal())
        return .object(object)
    }
}

extension Client {
    fileprivate var json: JSONValue {
        .members([
            "client_id": .string("\(id)"), "name": .string(name.text),
            "rights": .array(rights.map(\.rawValue).sorted().map(JSONValue.string)),
            "callback_uris": .array(callbackURIs.map { .string($0.description) }),
            "waive_enrollment_approval": .bool(waivesEnrollmentApproval), "is_operator": .bool(isOperator),
            "created_at": .string("\(createdAt)"),
        ])
    }
}

extension AuditEvent {
    fileprivate var json: JSONValue {
        .members([
            "id": .string("\(id)"), "at": .string("\(at)"), "kind": .string(kind.rawValue),
            "client": client.map { .string("\($0)") }, "user": user.map { .string("\($0)") },
            "enrollment": enrollment.map { .string("\($0)") }, "challenge": challenge.map { .string("\($0)") },
            "detail": .object(detail),
        ])
    }
}
