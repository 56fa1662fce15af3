import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import Foundation
import JOSE
import StorageTestSupport
import TestSupport
import Testing

extension PushScene {
    static let fcmToken = "dQw4w9WgXcQ:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx"

    /// Runs something in a scene whose phone is reached by FCM.
    fileprivate static func with(_ body: (PushScene, FCMPeer) async throws -> Void) async throws {
        try await FCMPeer.with { peer in
            try await PushScene.with(
                authorities: peer.settings.authorities, token: fcmToken,
                pushes: { client, world in
                    PushSender(fcm: FCMSender(peer.settings, client: client, time: world.time))
                }
            ) { scene in
                try await scene.device.register(.fcm, token: fcmToken)
                try await body(scene, peer)
            }
        }
    }
}

@Suite("FCM HTTP v1: pushes to a server that keeps Google's rules", .timeLimit(.minutes(15)))
struct FCMTests {
    @Test("A question is announced: data for the app to verify, and for Apple's devices what APNs would get")
    func announces() async throws {
        try await PushScene.with { scene, peer in
            let challenge = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().path == "/token")
            let arrival = try await peer.arrival()
            #expect(arrival.status == 200)
            #expect(arrival.path == "/v1/projects/\(FCMPeer.project)/messages:send")
            let message = try #require(try JSONValue(parsing: arrival.payload)["message"])
            #expect(message["token"] == .string(PushScene.fcmToken))
            #expect(message["notification"] == nil)
            #expect(message["android"]?["priority"] == "HIGH")
            let seconds = challenge.expiresAt.seconds - scene.world.time.now.seconds
            #expect(message["android"]?["ttl"] == .string("\(seconds)s"))
            #expect(message["apns"]?["headers"]?["apns-collapse-id"] == .string("\(challenge.id)"))
            #expect(message["apns"]?["headers"]?["apns-expiration"] == .string("\(challenge.expiresAt.seconds)"))
            let data = try #require(message["data"])
            // What an Android app puts together of the data is what an Apple device gets.
            let payload: JSONValue = [
                "aps": .members(["alert": .members(["title": data["title"], "body": data["body"]])]),
                "countersign": try JSONValue(parsing: Array((data["countersign"]?.string ?? "").utf8)),
            ]
            for payload in [payload, message["apns"]?["payload"] ?? .null] {
                let envelope = try PushEnvelope(
                    verifying: payload, issuer: scene.world.ports.issuer, enrollment: scene.device.enrollment,
                    keys: try scene.world.issuerKeys.pushKeys, now: scene.world.time.now, skew: 0)
                #expect(envelope.challenge == challenge.id)
            }
            #expect(data["badge"] == "1")
            #expect(data["category"] == "COUNTERSIGN_CONFIRM")
            #expect(try await scene.status(of: challenge) == .accepted)
        }
    }

    @Test("A question taken back takes its notification along, silently")
    func withdraws() async throws {
        try await PushScene.with { scene, peer in
            let challenge = try await scene.ask()
            try await scene.deliver()
            for _ in 0..<2 { _ = try await peer.arrival() }
            let shop = scene.delivery.shop.client
            _ = try await CancelChallenge.cancel(challenge.id, by: shop.caller, ports: scene.world.ports)
            try await scene.deliver()
            let arrival = try await peer.arrival()
            #expect(arrival.status == 200)
            let message = try #require(try JSONValue(parsing: arrival.payload)["message"])
            let payload = PushWithdrawal.payload(of: challenge.id, for: scene.device.enrollment)
            #expect(message["data"] == .members(["countersign": payload["countersign"].map { .string($0.text) }]))
            #expect(message["android"] == ["priority": "NORMAL", "ttl": "3600s"])
            #expect(message["apns"]?["headers"]?["apns-push-type"] == "background")
            #expect(message["apns"]?["headers"]?["apns-priority"] == "5")
            #expect(message["apns"]?["payload"] == payload)
        }
    }

    @Test("The longest short message there is fits, in data and for Apple's devices")
    func longest() async throws {
        try await PushScene.with { scene, peer in
            var request = try scene.world.request(for: scene.user)
            request.message = try DisplayMessage(
                String(repeating: "\u{1F512}", count: PushAlert.maximumMessageLength))
            _ = try await scene.world.ask(request, by: scene.delivery.shop.client)
            try await scene.deliver()
            _ = try await peer.arrival()
            #expect(try await peer.arrival().status == 200)
        }
    }

    @Test("RFC 7523 §2.1: one access token for all, until shortly before its end; one taken back is replaced, once")
    func tokens() async throws {
        try await PushScene.with { scene, peer in
            for _ in 0..<16 { _ = try await scene.ask() }
            try await scene.deliver()
            #expect(try await peer.arrival().path == "/token")
            var tokens: Set<String> = []
            for _ in 0..<16 { tokens.insert(try await peer.arrival().token) }
            #expect(tokens.count == 1)
            scene.world.time.advance(seconds: 3599 - 301)
            let late = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().token == tokens.first)
            #expect(try await scene.status(of: late) == .accepted)
            scene.world.time.advance(seconds: 1)
            try await peer.order([
                "ahead": .integer(scene.world.time.now.seconds - Int64(Date().timeIntervalSince1970))
            ])
            _ = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().path == "/token")
            let other = try await peer.arrival()
            #expect(other.status == 200)
            #expect(!tokens.contains(other.token))
            let refusal: JSONObject = [
                "device": .string(PushScene.fcmToken), "status": 401, "reason": "UNAUTHENTICATED",
            ]
            var once = refusal
            once["times"] = 1
            try await peer.order(once)
            let again = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().status == 401)
            #expect(try await peer.arrival().path == "/token")
            #expect(try await peer.arrival().status == 200)
            #expect(try await scene.status(of: again) == .accepted)
            try await peer.order(refusal)
            let refused = try await scene.ask()
            try await scene.deliver()
            #expect(try await scene.status(of: refused) == .queued(lastFailure: "FCM answered 401 UNAUTHENTICATED"))
            for path in ["send", "token", "send"] { #expect(try await peer.arrival().path.hasSuffix(path)) }
        }
    }

    @Test(
        "What FCM says decides what becomes of a push",
        arguments: [
            (503, "UNAVAILABLE", 7, true), (500, "INTERNAL", nil, true), (429, "QUOTA_EXCEEDED", nil, true),
            (429, "QUOTA_EXCEEDED", 90, true), (599, "SOMETHING_NEW", nil, true),
            (400, "INVALID_ARGUMENT", nil, false), (403, "SENDER_ID_MISMATCH", nil, false),
            (404, "NOT_FOUND", nil, false),
        ] as [(Int64, String, Int64?, Bool)])
    func judged(_ status: Int64, _ code: String, _ retryAfter: Int64?, _ isTriedAgain: Bool) async throws {
        try await PushScene.with { scene, peer in
            try await peer.order([
                "device": .string(PushScene.fcmToken), "status": .integer(status), "reason": .string(code),
                "retry_after": retryAfter.map(JSONValue.integer) ?? .null, "times": 1,
            ])
            let challenge = try await scene.ask()
            try await scene.deliver()
            _ = try await peer.arrival()
            #expect(try await peer.arrival().reason == code)
            let words = "FCM answered \(status) \(code)"
            let expected: PushDelivery = isTriedAgain ? .queued(lastFailure: words) : .failed(reason: words)
            #expect(try await scene.status(of: challenge) == expected)
            #expect(try await scene.isRegistered)
            guard isTriedAgain else { return }
            let due = try #require(try await scene.world.store.nextDue())
            let least = retryAfter ?? (status == 429 ? 60 : 1)
            #expect(due >= scene.world.time.now.adding(seconds: least))
            scene.world.time.set(due)
            try await scene.deliver()
            #expect(try await peer.arrival().status == 200)
            #expect(try await scene.status(of: challenge) == .accepted)
        }
    }

    @Test("A token that is no more, or was never one, is dropped")
    func unregistered() async throws {
        try await PushScene.with { scene, peer in
            try await peer.order([
                "device": .string(PushScene.fcmToken), "status": 404, "reason": "UNREGISTERED", "times": 1,
            ])
            let challenge = try await scene.ask()
            try await scene.deliver()
            #expect(try await scene.status(of: challenge) == .failed(reason: "FCM answered 404 UNREGISTERED"))
            #expect(try await !scene.isRegistered)
            // Of the right letters, and none of Google's: the peer says which member is wrong.
            try await scene.device.register(.fcm, token: "never-one-of-theirs")
            let other = try await scene.ask()
            try await scene.deliver()
            #expect(try await scene.status(of: other) == .failed(reason: "FCM answered 400 INVALID_ARGUMENT"))
            #expect(try await !scene.isRegistered)
        }
    }

    @Test("While Google gives no access token pushes wait, and go when it does")
    func noToken() async throws {
        try await PushScene.with { scene, peer in
            try await peer.order(["device": "token", "status": 503, "reason": "backend_error", "times": 1])
            let challenge = try await scene.ask()
            try await scene.deliver()
            #expect(
                try await scene.status(of: challenge)
                    == .queued(lastFailure: "Google gave no access token: 503 without a reason"))
            scene.world.time.advance(seconds: 5)
            try await scene.deliver()
            #expect(try await scene.status(of: challenge) == .accepted)
        }
    }

    @Test("An account that Google does not know is told apart from a network that failed")
    func unknownAccount() async throws {
        try await FCMPeer.with { peer in
            let key = try RSAPrivateKey()
            let settings = try FCMSettings(
                serviceAccount: FCMPeer.serviceAccount(key, tokenURL: "\(peer.settings.url)/token").encoded,
                url: peer.settings.url, authorities: peer.settings.authorities)
            try await PushScene.with(
                authorities: settings.authorities, token: PushScene.fcmToken,
                pushes: { PushSender(fcm: FCMSender(settings, client: $0, time: $1.time)) }
            ) { scene in
                try await scene.device.register(.fcm, token: PushScene.fcmToken)
                let challenge = try await scene.ask()
                try await scene.deliver()
                #expect(
                    try await scene.status(of: challenge)
                        == .queued(lastFailure: "Google gave no access token: 400 invalid_grant"))
            }
        }
    }

    @Test("A file that is no service account's is refused, and says what is wrong with it")
    func accounts() throws {
        let key = try RSAPrivateKey()
        let good = FCMPeer.serviceAccount(key, tokenURL: "https://oauth2.googleapis.com/token")
        #expect(try FCMSettings(serviceAccount: good.encoded).url == "https://fcm.googleapis.com")
        func refusal(_ change: (inout JSONObject) -> Void) -> FCMSettings.Refusal? {
            var object = good.object ?? [:]
            change(&object)
            do {
                _ = try FCMSettings(serviceAccount: JSONValue.object(object).encoded)
                return nil
            } catch {
                return error
            }
        }
        for name in ["project_id", "client_email", "private_key_id", "private_key", "token_uri"] {
            #expect(refusal { $0[name] = nil } == .member(name))
        }
        #expect(refusal { $0["project_id"] = "a/../b" } == .member("project_id"))
        #expect(refusal { $0["private_key"] = "-----BEGIN PRIVATE KEY-----" } == .member("private_key"))
        #expect(refusal { $0["token_uri"] = "http://oauth2.googleapis.com/token" } == .member("token_uri"))
        #expect(refusal { $0["type"] = "authorized_user" } == .notAServiceAccount)
        #expect(throws: FCMSettings.Refusal.notAServiceAccount) { try FCMSettings(serviceAccount: Array("{".utf8)) }
    }
}
