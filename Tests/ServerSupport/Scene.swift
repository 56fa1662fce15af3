import CountersignWire
package import Encodings
import NIOHTTP1

/// The usual fixture: a server, a shop as client, a user of the shop, and the user's phone.
package struct Scene: Sendable {
    /// The server.
    package let server: TestServer
    /// A client with all rights.
    package let shop: Caller
    /// The user, known to the shop as `customer-1`.
    package let user: String
    /// The user's enrolled phone.
    package let phone: TestPhone

    package init(server: TestServer, shop: Caller, user: String, phone: TestPhone) {
        self.server = server
        self.shop = shop
        self.user = user
        self.phone = phone
    }

    package var administrator: Caller { server.administrator }

    /// Runs a body with the fixture on a new server.
    ///
    /// - Parameters:
    ///   - type: the type `payment`, which the shop uses; with high limits by default.
    ///   - client: the members of the shop's registration besides its name.
    ///   - body: the body to run.
    package static func with<Result: Sendable>(
        type: JSONValue = ["max_pending": 1000, "max_asks": 1000, "denial_pause": 0], client: JSONObject = JSONObject(),
        _ body: @escaping @Sendable (Scene) async throws -> Result
    ) async throws -> Result {
        try await TestServer.with { server in try await body(try await make(server, type: type, client: client)) }
    }

    /// Creates the fixture on an existing server.
    package static func make(
        _ server: TestServer, type: JSONValue = ["max_pending": 1000, "max_asks": 1000, "denial_pause": 0],
        client: JSONObject = JSONObject()
    ) async throws -> Scene {
        _ = try await server.administrator.call(.PUT, "/v1/admin/types/payment", type).success()
        let shop = try await server.makeClient("ACME Shop", client)
        let user = try await shop.makeUser("customer-1")
        let phone = try await TestPhone.enrolled(for: user, by: shop, at: server)
        return Scene(server: server, shop: shop, user: user, phone: phone)
    }

    /// Asks the user, and returns the id of the challenge and the number to enter.
    package func ask(_ members: JSONObject = JSONObject()) async throws -> (id: String, number: String) {
        let asked = try await shop.ask(user, members)
        guard let id = asked["id"]?.string, let number = asked["number"]?.string else {
            throw UnexpectedReply(description: "no challenge with a number in \(asked)")
        }
        return (id, number)
    }

    /// Approves with the number.
    package func approve(_ asked: (id: String, number: String)) async throws -> Reply {
        guard let number = EntryNumber(asked.number) else {
            throw UnexpectedReply(description: "\(asked.number) is no number")
        }
        return try await phone.answer(asked.id, .approved(.confirm, number: number))
    }

    /// The state of a challenge.
    package func state(of challenge: String) async throws -> String {
        try await shop.call(.GET, "/v1/challenges/\(challenge)").success()["state"]?.string ?? ""
    }

    /// The whole visible state, by which a test can tell that nothing has changed.
    package func snapshot() async throws -> Snapshot {
        let pending = try await phone.send(.GET, "/v1/enrollments/self/challenges").success()
        return Snapshot(
            audit: try await administrator.auditEvents(),
            clients: try await administrator.call(.GET, "/v1/admin/clients").success(),
            types: try await administrator.call(.GET, "/v1/admin/types").success(),
            user: try await shop.call(.GET, "/v1/users/\(user)").success(),
            enrollments: try await shop.call(.GET, "/v1/users/\(user)/enrollments").success(),
            pending: (pending["challenges"]?.array ?? []).map { $0["id"] ?? .null })
    }
}

/// The whole visible state of a server at one time.
package struct Snapshot: Hashable, Sendable {
    /// The whole audit.
    package let audit: [JSONValue]
    /// All clients.
    package let clients: JSONValue
    /// All challenge types.
    package let types: JSONValue
    /// The scene's user.
    package let user: JSONValue
    /// The user's enrollments.
    package let enrollments: JSONValue
    /// The ids of the challenges that are pending for the phone.
    package let pending: [JSONValue]
}

extension Caller {
    /// The whole audit, read page by page; for operators.
    package func auditEvents() async throws -> [JSONValue] {
        var events: [JSONValue] = []
        var cursor = "0"
        while true {
            let page = try await call(.GET, "/v1/admin/events?cursor=\(cursor)").success()
            let next = page["events"]?.array ?? []
            if next.isEmpty { return events }
            events += next
            cursor = page["cursor"]?.string ?? cursor
        }
    }

    /// The number of audit events of a kind; for operators.
    package func auditCount(_ kind: String) async throws -> Int {
        try await auditEvents().count { $0["kind"] == .string(kind) }
    }
}
