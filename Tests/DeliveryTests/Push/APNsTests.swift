import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import Foundation
import StorageTestSupport
import TestSupport
import Testing

extension PushScene {
    static let token = String(repeating: "ab12", count: 16)

    /// Runs something in a scene whose phone is reached by APNs.
    fileprivate static func with(_ body: (PushScene, APNsPeer) async throws -> Void) async throws {
        try await APNsPeer.with { peer in
            try await PushScene.with(
                authorities: peer.settings.authorities, token: token,
                pushes: { client, world in
                    PushSender(apns: APNsSender(peer.settings, client: client, tokens: world.store, time: world.time))
                }
            ) { scene in
                try await scene.register(token)
                try await body(scene, peer)
            }
        }
    }

    fileprivate func register(_ token: String, app: String = APNsPeer.app) async throws {
        try await device.register(.apns(.development), token: token, app: app)
    }
}

@Suite("APNs provider API: pushes to a server that keeps Apple's rules")
struct APNsTests {
    @Test("A question is announced: signed for the device, collapsible, until it ends")
    func announces() async throws {
        try await PushScene.with { scene, peer in
            let challenge = try await scene.ask()
            #expect(try await scene.status(of: challenge) == .queued(lastFailure: nil))
            try await scene.deliver()
            let arrival = try await peer.arrival()
            #expect(arrival.status == 200)
            #expect(arrival.path == "/3/device/\(PushScene.token)")
            #expect(arrival.field("apns-topic") == APNsPeer.app)
            #expect(arrival.field("apns-push-type") == "alert")
            #expect(arrival.field("apns-priority") == "10")
            #expect(arrival.field("apns-expiration") == "\(challenge.expiresAt.seconds)")
            #expect(arrival.field("apns-collapse-id") == "\(challenge.id)")
            let payload = try JSONValue(parsing: arrival.payload)
            let envelope = try PushEnvelope(
                verifying: payload, issuer: scene.world.ports.issuer, enrollment: scene.device.enrollment,
                keys: try scene.world.issuerKeys.pushKeys, now: scene.world.time.now, skew: 0)
            #expect(envelope.challenge == challenge.id)
            #expect(payload["aps"]?["badge"] == 1)
            #expect(payload["aps"]?["category"] == "COUNTERSIGN_CONFIRM")
            #expect(try await scene.status(of: challenge) == .accepted)
            #expect(try await scene.world.count("outbox", where: "state = 'delivered'") == 1)
        }
    }

    @Test("APNs provider API, Pushing background updates: a question taken back takes its notification along, silently")
    func withdraws() async throws {
        try await PushScene.with { scene, peer in
            let challenge = try await scene.ask()
            try await scene.deliver()
            _ = try await peer.arrival()
            let shop = scene.delivery.shop.client
            _ = try await CancelChallenge.cancel(challenge.id, by: shop.caller, ports: scene.world.ports)
            let now = scene.world.time.now
            try await scene.deliver()
            let arrival = try await peer.arrival()
            #expect(arrival.status == 200)
            #expect(arrival.field("apns-push-type") == "background")
            #expect(arrival.field("apns-priority") == "5")
            #expect(arrival.field("apns-expiration") == "\(now.adding(seconds: 3600).seconds)")
            // Where the notification has not come yet, this one comes in its place.
            #expect(arrival.field("apns-collapse-id") == "\(challenge.id)")
            let payload = try JSONValue(parsing: arrival.payload)
            #expect(payload == PushWithdrawal.payload(of: challenge.id, for: scene.device.enrollment))
            #expect(try await scene.status(of: challenge) == .accepted)
            #expect(try await scene.world.count("outbox", where: "state = 'delivered'") == 2)
        }
    }

    @Test("Many at once go over one connection, which takes one request until it knows who asks")
    func streams() async throws {
        try await PushScene.with { scene, peer in
            for _ in 0..<16 { _ = try await scene.ask() }
            try await scene.deliver()
            var badges: [Int64] = []
            var tokens: Set<String> = []
            for _ in 0..<16 {
                let arrival = try await peer.arrival()
                #expect(arrival.status == 200)
                tokens.insert(arrival.token)
                badges.append(try JSONValue(parsing: arrival.payload)["aps"]?["badge"]?.integer ?? 0)
            }
            #expect(tokens.count == 1)
            #expect(Set(badges) == [16])
            #expect(try await scene.world.count("challenge_targets", where: "push_state = 'accepted'") == 16)
        }
    }

    @Test(
        "What APNs says decides what becomes of a push",
        arguments: [
            (503, "ServiceUnavailable", true), (500, "InternalServerError", true), (429, "TooManyRequests", true),
            (403, "InvalidProviderToken", true), (599, "SomethingNew", true), (400, "BadTopic", false),
            (413, "PayloadTooLarge", false), (404, "BadPath", false), (418, "SomethingNew", false),
        ] as [(Int64, String, Bool)])
    func judged(_ status: Int64, _ reason: String, _ isTriedAgain: Bool) async throws {
        try await PushScene.with { scene, peer in
            try await peer.order([
                "device": .string(PushScene.token), "status": .integer(status), "reason": .string(reason), "times": 1,
            ])
            let challenge = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().reason == reason)
            let words = "APNs answered \(status) \(reason)"
            let expected: PushDelivery = isTriedAgain ? .queued(lastFailure: words) : .failed(reason: words)
            #expect(try await scene.status(of: challenge) == expected)
            // The device is still reached there.
            #expect(try await scene.world.store.read { try $0.pushes.find(of: scene.device.enrollment) } != nil)
            guard isTriedAgain else { return }
            scene.world.time.advance(seconds: 25)
            try await scene.deliver()
            #expect(try await peer.arrival().status == 200)
            #expect(try await scene.status(of: challenge) == .accepted)
        }
    }

    @Test(
        "A token that is of no use any more is dropped, unless it was registered again since",
        arguments: [
            (400, "BadDeviceToken", nil, true), (410, "Unregistered", nil, true), (410, "ExpiredToken", 5, true),
            (410, "Unregistered", -5, false),
        ] as [(Int64, String, Int64?, Bool)])
    func unregistered(_ status: Int64, _ reason: String, _ since: Int64?, _ isDropped: Bool) async throws {
        try await PushScene.with { scene, peer in
            let world = scene.world
            try await peer.order([
                "device": .string(PushScene.token), "status": .integer(status), "reason": .string(reason),
                "timestamp": since.map { .integer(world.time.now.adding(seconds: $0).milliseconds) } ?? .null,
                "times": 1,
            ])
            let challenge = try await scene.ask()
            try await scene.deliver()
            _ = try await peer.arrival()
            let words = "APNs answered \(status) \(reason)"
            let registration = try await world.store.read { try $0.pushes.find(of: scene.device.enrollment) }
            #expect((registration == nil) == isDropped)
            #expect(
                try await scene.status(of: challenge)
                    == (isDropped ? .failed(reason: words) : .queued(lastFailure: words)))
            // The next question is there all the same, for a device that asks by itself.
            let next = try await scene.ask()
            #expect(try await scene.status(of: next) == (isDropped ? nil : .queued(lastFailure: nil)))
        }
    }

    @Test("A registration that came while the old token was being refused stays")
    func registeredMeanwhile() async throws {
        try await PushScene.with { scene, peer in
            let other = String(repeating: "cd", count: 32)
            try await peer.order([
                "device": .string(PushScene.token), "status": 410, "reason": "Unregistered", "delay": 1000,
            ])
            let challenge = try await scene.ask()
            async let delivered: Void = scene.deliver()
            _ = try await peer.arrival()
            scene.world.time.advance(milliseconds: 1)
            try await scene.register(other)
            try await delivered
            let registration = try await scene.world.store.read {
                try $0.pushes.find(of: scene.device.enrollment)
            }
            #expect(registration?.registration.token.reveal() == other)
            #expect(try await scene.status(of: challenge) == .failed(reason: "APNs answered 410 Unregistered"))
        }
    }

    @Test("One provider token for 50 minutes, for all nodes; then another")
    func providerTokens() async throws {
        try await PushScene.with { scene, peer in
            let world = scene.world
            let http = PushSender.makeClient(authorities: peer.settings.authorities)
            var other = scene
            other.delivery.pushes = PushSender(
                apns: APNsSender(peer.settings, client: http, tokens: world.store, time: world.time))
            var tokens: [String] = []
            for minutes: Int64 in [0, 0, 49, 2, 0] {
                world.time.advance(seconds: minutes * 60)
                try await peer.order([
                    "ahead": .integer(world.time.now.seconds - Int64(Date().timeIntervalSince1970))
                ])
                for node in [scene, other] {
                    _ = try await node.ask()
                    try await node.deliver()
                    let arrival = try await peer.arrival()
                    #expect(arrival.status == 200, "\(arrival)")
                    tokens.append(arrival.token)
                }
            }
            try await http.shutdown()
            #expect(Set(tokens.prefix(6)).count == 1)
            #expect(Set(tokens.suffix(4)).count == 1)
            #expect(Set(tokens).count == 2)
        }
    }

    @Test("A provider token that APNs finds expired is renewed once, when it is old enough for that")
    func expiredProviderToken() async throws {
        try await PushScene.with { scene, peer in
            let world = scene.world
            _ = try await scene.ask()
            try await scene.deliver()
            let first = try await peer.arrival()
            world.time.advance(seconds: 25 * 60)
            // The peer's clock runs ahead: to it the token is more than an hour old.
            let offset = world.time.now.seconds - Int64(Date().timeIntervalSince1970)
            try await peer.order(["ahead": .integer(offset + 40 * 60)])
            let challenge = try await scene.ask()
            try await scene.deliver()
            let refused = try await peer.arrival()
            #expect(refused.reason == "ExpiredProviderToken")
            #expect(refused.token == first.token)
            let renewed = try await peer.arrival()
            #expect(renewed.status == 200)
            #expect(renewed.token != first.token)
            #expect(try await scene.status(of: challenge) == .accepted)
            // So soon after, another one would only annoy APNs.
            try await peer.order(["ahead": .integer(offset + 62 * 60)])
            let next = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().reason == "ExpiredProviderToken")
            #expect(
                try await scene.status(of: next) == .queued(lastFailure: "APNs answered 403 ExpiredProviderToken"))
        }
    }

    @Test("A connection that is cut off, or ends politely, loses no push")
    func broken() async throws {
        try await PushScene.with { scene, peer in
            try await peer.order(["device": .string(PushScene.token), "breaks": true, "times": 1])
            let cut = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().status == 0)
            guard case .queued(let failure?) = try await scene.status(of: cut) else {
                Issue.record("it is not tried again")
                return
            }
            #expect(failure.hasPrefix("APNs: "))
            scene.world.time.advance(seconds: 5)
            try await scene.deliver()
            #expect(try await peer.arrival().status == 200)
            #expect(try await scene.status(of: cut) == .accepted)
            // What is under way when APNs says good-bye is finished; what comes after goes by another connection.
            try await peer.order(["device": .string(PushScene.token), "status": 200, "delay": 500, "times": 1])
            let slow = try await scene.ask()
            async let delivered: Void = scene.deliver()
            #expect(try await peer.arrival().status == 200)
            try await peer.order(["goaway": true])
            try await delivered
            #expect(try await scene.status(of: slow) == .accepted)
            let next = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().status == 200)
            #expect(try await scene.status(of: next) == .accepted)
        }
    }

    @Test("RFC 9113 §6.8: a connection that APNs ends while nothing is under way is closed")
    func endedIdle() async throws {
        try await PushScene.with { scene, peer in
            for _ in 0..<2 {
                _ = try await scene.ask()
                try await scene.deliver()
                #expect(try await peer.arrival().status == 200)
                try await peer.order(["goaway": true])
                // The peer says it before it is sent.
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    @Test("A question that ended before it was announced is announced to nobody")
    func tooLate() async throws {
        try await PushScene.with { scene, peer in
            let challenge = try await scene.ask()
            _ = try await CancelChallenge.cancel(
                challenge.id, by: scene.delivery.shop.client.caller, ports: scene.world.ports)
            try await scene.deliver()
            let reason = "the question has ended, or the device has no push registration"
            #expect(try await scene.status(of: challenge) == .failed(reason: reason))
            let late = try await scene.ask()
            scene.world.time.set(late.expiresAt)
            try await scene.deliver()
            #expect(
                try await scene.status(of: late) == .failed(reason: "its time was over before it could be sent"))
            // Neither came to the peer: what comes next is the next.
            scene.world.time.advance(seconds: 1)
            let next = try await scene.ask()
            try await scene.deliver()
            #expect(try await peer.arrival().field("apns-collapse-id") == "\(next.id)")
        }
    }

    @Test("An app that the operator has not set up gets no push, and the challenge says so")
    func otherApp() async throws {
        try await PushScene.with { scene, peer in
            try await scene.register(PushScene.token, app: "com.example.other")
            let challenge = try await scene.ask()
            try await scene.deliver()
            #expect(
                try await scene.status(of: challenge)
                    == .failed(reason: "APNs is not set up for com.example.other"))
        }
    }
}
