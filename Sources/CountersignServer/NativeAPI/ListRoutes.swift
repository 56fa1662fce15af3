import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import OpenPGP
import RelyingPartyAPI

/// The routes for lists in pages: the operator's lists of everything, and each client's list of its own data.
extension NativeAPI {
    func addLists(to routes: inout NativeRoutes) {
        routes.client(.get, "/v1/users", .users, query: ["enrollment_blocked", "cursor"]) { [self] caller, incoming in
            let isBlocked = try incoming.flag("enrollment_blocked")
            return try reply(
                await ListUsers.list(
                    of: caller.client.id, blocked: isBlocked, cursor: incoming.query["cursor"], ports: ports),
                "users"
            ) { $0.json }
        }
        routes.client(.get, "/v1/enrollments", .enrollments, query: ["user", "state", "cursor"]) {
            [self] caller, incoming in
            try await enrollments(incoming, in: .client(caller.client.id), by: caller.client)
        }
        routes.client(.get, "/v1/challenges", .challenges, query: ["user", "type", "state", "cursor"]) {
            [self] caller, incoming in
            try await challenges(incoming, in: .client(caller.client.id), by: caller.client) { $0.json }
        }
        routes.client(.get, "/v1/types", .challenges, query: ["cursor"]) { [self] caller, incoming in
            try reply(
                await ListTypes.list(in: .client(caller.client.id), cursor: incoming.query["cursor"], ports: ports),
                "types"
            ) { $0.json }
        }
        routes.administrator(.get, "/v1/admin/users", query: ["client", "deleted", "cursor"]) {
            [self] _, incoming in
            try await everybody(incoming)
        }
        routes.administrator(
            .get, "/v1/admin/enrollments", query: ["client", "user", "state", "fingerprint", "cursor"]
        ) { [self] caller, incoming in
            try await enrollments(incoming, in: try incoming.scope(), by: caller.client)
        }
        routes.administrator(
            .get, "/v1/admin/challenges", query: ["client", "user", "type", "state", "cursor"]
        ) { [self] caller, incoming in
            try await challenges(incoming, in: try incoming.scope(), by: caller.client) { $0.jsonForOperators }
        }
    }

    private func everybody(_ incoming: Incoming) async throws -> Response {
        let (scope, isDeleted) = (try incoming.scope(), try incoming.flag("deleted"))
        let cursor = incoming.query["cursor"]
        let outcome: ListKnownUsers.Outcome
        switch scope {
        case .all: outcome = try await ListKnownUsers.all(deleted: isDeleted, cursor: cursor, ports: ports)
        case .client(let client):
            guard isDeleted == nil else {
                throw RequestRefusal.unfitParameter(
                    "deleted", why: "who is deleted is no client's any more: leave one of the two out")
            }
            outcome = try await ListKnownUsers.list(of: client, cursor: cursor, ports: ports)
        }
        return try reply(outcome, "users") { $0.json }
    }

    private func enrollments(_ incoming: Incoming, in scope: ListScope, by caller: Client) async throws -> Response {
        var filter = ListEnrollments.Filter()
        if let user = try incoming.userFilter() {
            // For a user whom the caller does not know, the list is empty.
            guard let id = self.id(try await FindUser.find(user, by: caller, in: scope, ports: ports)) else {
                return Response(json: ["enrollments": []])
            }
            filter.user = id
        }
        filter.fingerprint = try incoming.filter("fingerprint", "40 hexadecimal digits") { Fingerprint($0[...]) }
        let now = ports.time.now
        let states = ["active", "waiting", "suspended", "removed"]
        filter.state = try incoming.filter("state", "one of \(states.joined(separator: ", "))") { word in
            states.contains(word) ? (word, { $0.view(at: now).state.name == word }) : nil
        }
        return try reply(
            await ListEnrollments.list(filter, in: scope, cursor: incoming.query["cursor"], ports: ports),
            "enrollments"
        ) { $0.json(at: now) }
    }

    private func challenges(
        _ incoming: Incoming, in scope: ListScope, by caller: Client, _ render: (Challenge) -> JSONValue
    ) async throws -> Response {
        var filter = ListChallenges.Filter()
        if let user = try incoming.userFilter() {
            guard let id = self.id(try await FindUser.find(user, by: caller, in: scope, ports: ports)) else {
                return Response(json: ["challenges": []])
            }
            filter.user = id
        }
        filter.type = try incoming.filter("type", "the name of a type") { TypeName($0) }
        let states = ["pending", "approved", "denied", "failed", "cancelled", "expired"]
        filter.state = try incoming.filter("state", "one of \(states.joined(separator: ", "))") { word in
            states.contains(word) ? word : nil
        }
        return try reply(
            await ListChallenges.list(filter, in: scope, cursor: incoming.query["cursor"], ports: ports),
            "challenges", render)
    }
}

extension Challenge {
    /// The challenge for operators: with the id of its client, and without the client's own state.
    fileprivate var jsonForOperators: JSONValue {
        var view = view
        view.client = question.client
        view.clientState = nil
        return view.json
    }
}

extension KnownUser {
    var json: JSONValue {
        .members([
            "id": .string("\(id)"), "created_at": .string("\(createdAt)"),
            "deleted_at": deletedAt.map { .string("\($0)") },
            "links": .array(
                links.map { link in
                    .members([
                        "client": .string("\(link.client)"), "external_id": link.externalID.map { .string($0.text) },
                        "enrollment_blocked": link.isEnrollmentBlocked ? true : nil,
                    ])
                }),
        ])
    }
}

extension Incoming {
    /// The scope of an operator's list: everything, or the data that one client may see.
    fileprivate func scope() throws -> ListScope {
        try filter("client", "a client's id") { ClientID($0) }.map(ListScope.client) ?? .all
    }

    fileprivate func userFilter() throws -> UserReference? {
        try filter("user", "a user's id, or external_id: and the client's own name") { UserReference($0) }
    }
}
