import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The operator's routes.
extension NativeAPI {
    private static let eventPage = 100

    func addAdministration(to routes: inout NativeRoutes) {
        addClients(to: &routes)
        routes.administrator(.get, "/v1/admin/types", query: ["cursor"]) { [self] _, incoming in
            try reply(await ListTypes.list(in: .all, cursor: incoming.query["cursor"], ports: ports), "types") {
                $0.json
            }
        }
        routes.administrator(.delete, "/v1/admin/types/:type") { [self] caller, incoming in
            guard let name = incoming.parameter("type").flatMap({ TypeName($0) }) else {
                throw RequestRefusal.noSuch(.type)
            }
            return try reply(await RemoveType.remove(name, by: caller.actor, ports: ports))
        }
        routes.administrator(.put, "/v1/admin/types/:type") { [self] caller, incoming in
            guard let name = incoming.parameter("type").flatMap({ TypeName($0) }) else {
                throw RequestRefusal.noSuch(.type, detail: "a name has lower case letters, digits, - and _")
            }
            let type = try ChallengeType(incoming.json(), name: name)
            return try reply(await SetType.set(type, by: caller.actor, ports: ports), type)
        }
        addLocks(to: &routes)
        addAdministrationOfEnrollments(to: &routes)
        addOutbox(to: &routes)
        addRelyingParties(to: &routes)
        addIssuerKeys(to: &routes)
        addMessages(to: &routes)
        let filters = ["kind", "client", "user", "enrollment", "challenge", "since", "until"]
        routes.administrator(.get, "/v1/admin/events", query: filters + ["cursor"]) { [self] _, incoming in
            let sequence = try incoming.cursor { Int64($0).flatMap { $0 < 0 ? nil : $0 } } ?? 0
            return reply(
                try await ListEvents.list(
                    try incoming.auditFilter(), after: sequence, limit: Self.eventPage, ports: ports))
        }
    }
}

extension Incoming {
    /// The filter for events from the query.
    fileprivate func auditFilter() throws -> AuditFilter {
        var filter = AuditFilter()
        filter.kind = try self.filter("kind", "the kind of an event, such as challenge.approved") {
            AuditEventKind(rawValue: $0)
        }
        filter.client = try self.filter("client", "a client's id") { ClientID($0) }
        filter.user = try self.filter("user", "a user's id") { UserID($0) }
        filter.enrollment = try self.filter("enrollment", "an enrollment's id") { EnrollmentID($0) }
        filter.challenge = try self.filter("challenge", "a challenge's id") { ChallengeID($0) }
        filter.since = try self.filter("since", "a time, such as 2026-11-23T10:15:00.000Z") { Timestamp($0) }
        filter.until = try self.filter("until", "a time, such as 2026-11-23T10:15:00.000Z") { Timestamp($0) }
        return filter
    }
}

extension NativeAPI {
    private static let lockPage = 100

    private func addLocks(to routes: inout NativeRoutes) {
        routes.administrator(.get, "/v1/admin/locks", query: ["cursor"]) { [self] _, incoming in
            let place = try incoming.cursor { ChallengeID($0) }
            let locks = self.locks(try await ListLocks.list(after: place, limit: Self.lockPage, ports: ports))
            return Response(
                json: .members([
                    "locks": .array(locks.map(\.json)),
                    "cursor": (locks.last?.challenge ?? place).map { .string("\($0)") },
                ]))
        }
        routes.administrator(.delete, "/v1/admin/locks/:challenge") { [self] caller, incoming in
            let id = try incoming.challenge()
            return try reply(await EndLock.end(id, by: caller.actor, ports: ports))
        }
    }
}

extension AskingLock {
    fileprivate var json: JSONValue {
        [
            "challenge": .string("\(challenge)"), "client": .string("\(client)"), "user": .string("\(user)"),
            "since": .string("\(since)"),
        ]
    }
}

extension NativeAPI {
    private static let messagePage = 100

    private func addOutbox(to routes: inout NativeRoutes) {
        routes.administrator(.get, "/v1/admin/outbox", query: ["state", "cursor"]) { [self] _, incoming in
            let state = try incoming.filter("state", "\"dead\" or \"waiting\"") { OutboxEntry.State(rawValue: $0) }
            let place = try incoming.cursor { EventID($0) }
            let entries = self.entries(
                try await ListOutbox.list(state ?? .dead, after: place, limit: Self.messagePage, ports: ports))
            return Response(
                json: .members([
                    "messages": .array(entries.map(\.json)),
                    "cursor": (entries.last?.id ?? place).map { .string("\($0)") },
                ]))
        }
        routes.administrator(.get, "/v1/admin/outbox/:message") { [self] _, incoming in
            let id: EventID = try incoming.id("message", of: .message)
            return try reply(await ShowMessage.show(id, ports: ports))
        }
        routes.administrator(.post, "/v1/admin/outbox/:message/retry") { [self] caller, incoming in
            let id: EventID = try incoming.id("message", of: .message)
            return try reply(await RetryMessage.retry(id, by: caller.actor, ports: ports))
        }
    }
}

extension OutboxEntry {
    var json: JSONValue {
        .members([
            "id": .string("\(id)"), "kind": .string(kind), "client": .string("\(client)"),
            "state": .string(state.rawValue), "due_at": state == .waiting ? .string("\(dueAt)") : nil,
            "expires_at": .string("\(expiresAt)"), "attempts": .integer(Int64(attempts)),
            "last_error": lastError.map(JSONValue.string),
        ])
    }
}

extension AuditEvent {
    var json: JSONValue {
        .members([
            "id": .string("\(id)"), "at": .string("\(at)"), "kind": .string(kind.rawValue),
            "actor": .string("\(actor)"), "client": client.map { .string("\($0)") },
            "user": user.map { .string("\($0)") },
            "enrollment": enrollment.map { .string("\($0)") }, "challenge": challenge.map { .string("\($0)") },
            "detail": .object(detail),
        ])
    }
}
