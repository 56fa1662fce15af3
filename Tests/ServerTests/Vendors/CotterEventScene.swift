import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

/// An app that was written for Cotter, whose user `customer-1` has a trusted device of Cotter's kind beside the phone
/// with our SDK.
struct CotterEventScene: Sendable {
    let app: CotterScene
    let device: CotterDevice

    var server: TestServer { app.server }

    /// The type by which such apps ask, as an operator makes it.
    static let type: JSONValue = [
        "number_entry": false, "assurance": "event", "expires_in": 120, "max_pending": 1000, "max_asks": 1000,
        "denial_pause": 0,
    ]

    static func with(
        _ kind: CotterDevice.Kind = .iOS, type: JSONValue? = CotterEventScene.type,
        _ settings: JSONObject = JSONObject(),
        _ body: @escaping @Sendable (CotterEventScene) async throws -> Void
    ) async throws {
        var all: JSONObject = ["device_grant": true, "device_login_hint": true]
        for member in settings.members { all[member.name] = member.value }
        try await CotterScene.with(client: ["waive_enrollment_approval": true], all) { app in
            if let type {
                _ = try await app.scene.administrator.call(.PUT, "/v1/admin/types/cotter", type).success()
            }
            let scene = CotterEventScene(app: app, device: try CotterDevice(kind))
            _ = try await scene.enroll(scene.device).success()
            try await body(scene)
        }
    }

    /// Enrolls a device, or removes it, as the app's server does.
    func enroll(
        _ device: CotterDevice, _ isEnrolled: Bool = true, for user: String = "customer-1",
        changing changes: KeyValuePairs<String, JSONValue?> = [:], by caller: Caller? = nil
    ) async throws -> Reply {
        var body = JSONObject([
            "method": "TRUSTED_DEVICE", "enrolled": .bool(isEnrolled), "code": .string(device.publicKey),
            "algorithm": device.algorithm.map(JSONValue.string), "device_name": "Pixel 3 11", "device_type": "Google",
        ])
        for (name, value) in changes { body[name] = value }
        return try await server.send(
            .PUT, "/api/v0/user/\(FormText.encoded(user))",
            headers: [
                ("API_KEY_ID", app.key), ("Content-Type", "application/json"),
                ("Authorization", (caller ?? app.scene.shop).authorization),
            ], body: JSONValue.object(body).encoded, isContract: false)
    }

    /// What an app sends that asks.
    func question(_ user: String = "customer-1", _ changes: KeyValuePairs<String, JSONValue?> = [:]) -> JSONValue {
        var body: JSONObject = [
            "client_user_id": .string(user), "issuer": .string(app.key), "event": "LOGIN", "ip": "1.2.3.4",
            "location": "unknown", "timestamp": "1582842167", "method": "TRUSTED_DEVICE",
        ]
        for (name, value) in changes { body[name] = value }
        return .object(body)
    }

    /// Asks, and returns the event as the app gets it.
    func ask(_ user: String = "customer-1") async throws -> JSONValue {
        try await app.post("/event/create_pending", question(user)).success()
    }

    /// The event that the user's devices are asked about, as soon as it is put to them.
    func pending(_ user: String = "customer-1") async throws -> JSONValue {
        // The phone is asked at the same time.
        _ = try await app.pages.pending()
        return try await app.get("/event/new/\(FormText.encoded(user))").success()
    }

    /// What a device signs about an event.
    func signed(_ event: JSONValue, _ isApproved: Bool, user: String = "customer-1", key: String? = nil) -> String {
        let (name, time) = (event["event"]?.string ?? "", event["timestamp"]?.string ?? "")
        return "\(user)\(key ?? app.key)\(name)\(time)TRUSTED_DEVICE\(isApproved)"
    }

    /// What a device answers.
    func answer(
        _ event: JSONValue, _ isApproved: Bool, by device: CotterDevice? = nil, user: String = "customer-1",
        signing text: String? = nil, changing changes: KeyValuePairs<String, JSONValue?> = [:]
    ) async throws -> JSONValue {
        let device = device ?? self.device
        let code = try await device.sign(text ?? signed(event, isApproved, user: user))
        var body = JSONObject([
            "client_user_id": .string(user), "issuer": .string(app.key), "event": event["event"] ?? .null,
            "ip": event["ip"] ?? .null, "location": event["location"] ?? .null,
            "timestamp": event["timestamp"] ?? .null, "method": "TRUSTED_DEVICE", "approved": .bool(isApproved),
            "public_key": .string(device.publicKey), "code": .string(code),
            "algorithm": device.algorithm.map(JSONValue.string),
        ])
        for (name, value) in changes { body[name] = value }
        return .object(body)
    }

    func respond(_ event: JSONValue, _ body: JSONValue) async throws -> Reply {
        try await app.post("/event/respond/\(try #require(event["ID"]?.integer))", body)
    }

    /// The event, as the app sees it that has asked.
    func look(_ event: JSONValue, withTokens: Bool = true, key: String? = nil) async throws -> Reply {
        let id = try #require(event["ID"]?.integer)
        return try await app.get("/event/get/\(id)\(withTokens ? "?oauth_token=true" : "")", key: key)
    }
}
