import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

/// A portal that was written for OneWelcome, its user `customer-1`, and the user's phone.
///
/// What it sends and expects is written from the public documentation of OneWelcome's calls.
struct OneWelcomeScene: Sendable {
    static let callback = "https://www.myportal.com/callback"
    static let path = "/oauth/api/v4/authenticate"

    let scene: Scene

    var server: TestServer { scene.server }
    var portal: Caller { scene.shop }
    var phone: TestPhone { scene.phone }
    /// The phone, as the portal knows it.
    var device: String { "\(phone.enrollment)" }

    /// Runs a body with a portal that may make the calls; its types are `payment`, for a push, and `otp`.
    ///
    /// - Parameters:
    ///   - client: the members of the portal's registration besides these.
    ///   - type: the members of the type `payment` besides its limits, which are high.
    ///   - body: the body to run.
    static func with(
        client: JSONObject = JSONObject(), type: JSONObject = JSONObject(),
        _ body: @escaping @Sendable (OneWelcomeScene) async throws -> Void
    ) async throws {
        var members: JSONObject = ["vendors": ["onewelcome"], "callback_uris": [.string(callback)]]
        for member in client.members { members[member.name] = member.value }
        var settings: JSONObject = [
            "number_entry": false, "expires_in": 60, "max_pending": 1000, "max_asks": 1000, "denial_pause": 0,
        ]
        for member in type.members { settings[member.name] = member.value }
        try await Scene.with(type: .object(settings), client: members) { scene in
            let otp: JSONValue = ["qr": true, "expires_in": 60]
            _ = try await scene.administrator.call(.PUT, "/v1/admin/types/otp", otp).success()
            try await body(OneWelcomeScene(scene: scene))
        }
    }

    /// The form of a push, as documented.
    var push: [(String, String)] {
        [
            ("user_id", "customer-1"), ("callback_uri", Self.callback),
            ("message", "Please authenticate for mine.acme.com"), ("type", "payment"), ("device_id", device),
        ]
    }

    /// A form with other values; nil leaves a field out.
    static func changed(_ form: [(String, String)], _ changes: [(String, String?)]) -> [(String, String)] {
        let names = changes.map(\.0)
        return form.filter { !names.contains($0.0) } + changes.compactMap { name, value in value.map { (name, $0) } }
    }

    func post(
        _ path: String, _ form: [(String, String)], by caller: Caller? = nil, authorization: String? = nil
    ) async throws -> Reply {
        try await server.send(
            .POST, path,
            headers: [
                ("Authorization", authorization ?? (caller ?? portal).authorization),
                ("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8"),
            ], body: Array(FormText.encoded(form).utf8), isContract: false)
    }

    func call(_ method: HTTPMethod, _ path: String, by caller: Caller? = nil) async throws -> Reply {
        try await server.send(
            method, path, headers: [("Authorization", (caller ?? portal).authorization)], isContract: false)
    }

    /// Asks, and returns the name of the transaction.
    func ask(_ changes: [(String, String?)] = [], by caller: Caller? = nil) async throws -> String {
        let reply = try await post("\(Self.path)/user", Self.changed(push, changes), by: caller)
        return try #require(try reply.success()["transaction_id"]?.string)
    }

    func result(of transaction: String, by caller: Caller? = nil) async throws -> Reply {
        try await call(.GET, "\(Self.path)/transaction/\(transaction)", by: caller)
    }

    /// The id of the transaction's challenge, by which the phone and our own API know it.
    func challenge(_ transaction: String) throws -> String {
        "\(try #require(ChallengeID(uuid: transaction)))"
    }

    /// The phone's answer to a transaction, ready to be sent.
    func sealed(_ decision: Decision, for transaction: String) async throws -> [UInt8] {
        let question = try await phone.open(try challenge(transaction)).question
        return try await phone.seal(phone.receipt(of: question, decision).text)
    }

    /// The code in the last text message, as soon as there is one.
    func textedCode() async throws -> String {
        while true {
            let shown = try await server.send(.GET, "/dev/outbox").success()["messages"]?.array ?? []
            if let text = shown.first?["text"]?.string {
                return String(try #require(text.firstMatch(of: /[0-9]{6}/)).output)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

/// Expects exactly this refusal of a call for mobile authentication.
func expectNumber(
    _ reply: Reply, _ status: Int, _ number: Int64, location: SourceLocation = #_sourceLocation
) {
    #expect(reply.status == status, "\(reply)", sourceLocation: location)
    #expect(reply.json["error_code"] == .integer(number), "\(reply)", sourceLocation: location)
    #expect(
        reply.json.object?.members.map(\.name) == ["error", "error_description", "error_code"], "\(reply)",
        sourceLocation: location)
}
