import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

/// A client that waits for people's decisions in every way there is.
struct DenialStage: Sendable {
    /// How a client waits.
    enum Flow: String, CaseIterable, Sendable {
        case page = "page in a known browser"
        case deviceGrant = "device grant that waits"
        case poll = "CIBA poll that waits"
        case ping = "CIBA ping"
        case push = "CIBA push"
        case longPoll = "challenge, long poll"
        case callback = "challenge, callback"
    }

    typealias Wait = @Sendable () async throws -> ContinuousClock.Instant

    /// Arguments of `serve`: one client asks far more often than any would.
    static let arguments = ["--proxies", "127.0.0.1", "--limits-proof-of-work", "off", "--log-level", "warning"]
    /// How many denials of each kind one person gives: as many questions as an unknown browser has, less the first
    /// sign-in.
    static let denialsOfPerson = 2

    /// The node that the client calls.
    private let node: NodeCaller
    private let receiver: DenialReceiver
    private let administrator: String
    private let client: String
    private let authorization: String
    let people: [DenyingPerson]

    /// Adds a client, and people with phones who have signed in.
    ///
    /// - Parameters:
    ///   - count: how many people.
    ///   - data: the folder with the operator's token.
    ///   - issuer: the issuer of the nodes.
    ///   - node: the node that the client and the browsers call.
    ///   - other: the node that the phones call.
    ///   - receiver: where the client is told.
    init(
        people count: Int, data: String, issuer: String, clientAt node: NodeCaller, phonesAt other: NodeCaller,
        receiver: DenialReceiver
    ) async throws {
        let token = try String(contentsOfFile: "\(data)/bootstrap.token", encoding: .utf8)
        let administrator = "Bearer \(token.trimmingCharacters(in: .whitespacesAndNewlines))"
        let type: JSONValue = ["max_pending": 1000, "max_asks": 1000, "denial_pause": 0, "methods": ["confirm"]]
        _ = try await Self.call(.PUT, "/v1/admin/types/payment", type, at: node, as: administrator)
        let made = try await Self.call(
            .POST, "/v1/admin/clients", ["name": "ACME Shop", "callback_uris": [.string(receiver.uri)]], at: node,
            as: administrator)
        let id = try #require(made["client_id"]?.string)
        let secret = try #require(made["client_secret"]?.string)
        let authorization = "Basic \(Base64.encode(Array("\(id):\(secret)".utf8)))"
        (self.node, self.receiver, self.administrator) = (node, receiver, administrator)
        (client, self.authorization) = (id, authorization)
        try await Self.register(id, for: .page, receiver, at: node, as: administrator)
        var people: [DenyingPerson] = []
        for number in 0..<count {
            let name = "customer-\(number)"
            let added = try await Self.call(
                .POST, "/v1/users", ["external_id": .string(name)], at: node, as: authorization)
            let user = try #require(added["id"]?.string)
            let ticket = try await Self.call(
                .POST, "/v1/users/\(user)/enrollment-tickets", [:], at: node, as: authorization)
            let person = try await DenyingPerson(
                name, user: user, ticket: try #require(ticket["qr"]?.string), issuer: issuer,
                browser: DenyingBrowser(number, at: node), phoneAt: other)
            try await person.signIn(at: id)
            people.append(person)
        }
        self.people = people
    }

    /// Registers the client for a way to wait.
    func register(for flow: Flow) async throws {
        try await Self.register(client, for: flow, receiver, at: node, as: administrator)
    }

    private static func register(
        _ client: String, for flow: Flow, _ receiver: DenialReceiver, at node: NodeCaller, as administrator: String
    ) async throws {
        var settings: JSONObject = [
            "profile": "web", "redirect_uris": [.string(DenyingBrowser.redirectURI)], "registration": "known",
            "asked_browsers": "all", "ways": ["device", "qr"], "device_grant": true, "device_login_hint": true,
            "backchannel_token_delivery_mode": "poll", "backchannel_number_entry": true,
        ]
        if flow == .ping || flow == .push {
            settings["backchannel_token_delivery_mode"] = .string(flow == .ping ? "ping" : "push")
            settings["backchannel_client_notification_endpoint"] = .string(receiver.uri)
        }
        _ = try await call(
            .PUT, "/v1/admin/clients/\(client)/openid", .object(settings), at: node, as: administrator)
    }

    private static func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue, at node: NodeCaller, as authorization: String
    ) async throws -> JSONValue {
        try await node.send(
            method, path, fields: [("Authorization", authorization), ("Content-Type", "application/json")],
            body: body.encoded
        ).success()
    }

    /// Has a person deny what the client asks.
    ///
    /// - Returns: how long after the phone's 200 the client knew of it; less than nothing where it knew before.
    func denial(of flow: Flow, by person: DenyingPerson) async throws -> Duration {
        let wait = try await begin(flow, with: person)
        async let told = wait()
        let question = try await person.question()
        // By now the client waits, and nothing else is under way.
        try await Task.sleep(for: .milliseconds(50))
        try await question.deny()
        let answered = try #require(person.transport.answeredAt)
        return try await answered.duration(to: told)
    }

    /// Asks a person, and returns what waits for the denial.
    private func begin(_ flow: Flow, with person: DenyingPerson) async throws -> Wait {
        switch flow {
        case .page:
            let path = try await person.browser.ask(of: person.name, at: client)
            return {
                try await Self.time(of: "declined", in: "state") {
                    try await person.browser.get("\(path)/state?wait=30")
                }
            }
        case .deviceGrant:
            let asked = try await post("/oauth2/device_authorization", asking(person)).success()
            let code = try #require(asked["device_code"]?.string)
            return polling("urn:ietf:params:oauth:grant-type:device_code", ("device_code", code))
        case .poll:
            return polling("urn:openid:params:grant-type:ciba", ("auth_req_id", try await authRequest(person)))
        case .ping, .push:
            let token = ("client_notification_token", "8d67dc78-7faa-4d41-aabd-67707b374255")
            let id = try await authRequest(person, [token])
            return notified { $0["auth_req_id"] == .string(id) && (flow == .ping || $0["error"] == "access_denied") }
        case .longPoll:
            let id = try await challenge(person)
            let fields = [("Authorization", authorization)]
            return { [node] in
                try await Self.time(of: "denied", in: "state") {
                    try await node.send(.GET, "/v1/challenges/\(id)?wait=30", fields: fields)
                }
            }
        case .callback:
            let id = try await challenge(person, ["callback_uri": .string(receiver.uri)])
            return notified { $0["challenge"]?["id"] == .string(id) && $0["type"] == "challenge.denied" }
        }
    }

    private func asking(_ person: DenyingPerson) -> [(String, String)] {
        [("scope", "openid"), ("login_hint", "external_id:\(person.name)")]
    }

    private func authRequest(_ person: DenyingPerson, _ fields: [(String, String)] = []) async throws -> String {
        let asked = try await post("/oauth2/bc-authorize", asking(person) + fields).success()
        return try #require(asked["auth_req_id"]?.string)
    }

    private func challenge(_ person: DenyingPerson, _ members: JSONObject = [:]) async throws -> String {
        var body: JSONObject = ["user": .string(person.user), "type": "payment", "message": "Pay 12.00 EUR?"]
        for member in members.members { body[member.name] = member.value }
        let asked = try await Self.call(.POST, "/v1/challenges", .object(body), at: node, as: authorization)
        return try #require(asked["id"]?.string)
    }

    private func post(
        _ path: String, _ form: [(String, String)], _ fields: [(String, String)] = []
    ) async throws -> Reply {
        let type = ("Content-Type", "application/x-www-form-urlencoded")
        return try await node.send(
            .POST, path, fields: [("Authorization", authorization), type] + fields,
            body: Array(FormText.encoded(form).utf8))
    }

    /// A request for tokens that waits for the decision.
    private func polling(_ grant: String, _ handle: (String, String)) -> Wait {
        let form = [("grant_type", grant), handle]
        return {
            try await Self.time(of: "access_denied", in: "error") {
                try await post("/oauth2/token", form, [("Prefer", "wait=30")])
            }
        }
    }

    private func notified(_ isIt: @escaping @Sendable (JSONValue) -> Bool) -> Wait {
        let receiver = receiver
        return { try #require(await receiver.arrival(where: isIt)).at }
    }

    /// When a reply came, which must have this member.
    private static func time(
        of value: String, in member: String, _ send: @Sendable () async throws -> Reply
    ) async throws -> ContinuousClock.Instant {
        let reply = try await send()
        let now = ContinuousClock.now
        try #require(reply.json[member] == .string(value), "\(reply)")
        return now
    }
}
