import Crypto
import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Callbacks, from the asking to the signed post")
struct CallbackTests {
    /// A scene whose shop has a receiver for its callbacks.
    private static func with(
        _ statuses: [Int] = [],
        _ body:
            @escaping @Sendable (Scene, CallbackReceiver, inout AsyncStream<CallbackReceiver.Call>.AsyncIterator)
            async throws -> Void
    ) async throws {
        try await CallbackReceiver.with(answering: statuses) { receiver in
            try await Scene.with(client: ["callback_uris": [.string(receiver.url)]]) { scene in
                var calls = receiver.calls.makeAsyncIterator()
                try await body(scene, receiver, &calls)
            }
        }
    }

    /// Expects that a post is signed as Standard Webhooks say, and returns its body.
    private static func verified(_ call: CallbackReceiver.Call, for scene: Scene) throws -> JSONValue {
        let id = try #require(call.headers["webhook-id"])
        let timestamp = try #require(call.headers["webhook-timestamp"])
        let secret = scene.shop.callbackSecret
        #expect(secret.hasPrefix("whsec_"))
        let key = SymmetricKey(data: try #require(Base64.decode(secret.dropFirst("whsec_".count))))
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(id).\(timestamp).".utf8) + call.body, using: key)
        #expect(call.headers["webhook-signature"] == "v1,\(Base64.encode(Array(code)))")
        let sentAt = try #require(Int64(timestamp))
        #expect(abs(scene.server.clock.now.seconds - sentAt) < 60)
        #expect(call.headers["content-type"] == "application/json")
        #expect(call.headers["authorization"] == nil)
        return try JSONValue(parsing: call.body)
    }

    @Test("Every end is told once, with the challenge as GET shows it, under an id of its own")
    func everyEnd() async throws {
        try await Self.with { scene, receiver, calls in
            var ids: Set<String> = []
            for end in ChallengeEnd.allCases {
                let asked = try await scene.ask([
                    "callback_uri": .string(receiver.url), "state": .string("order \(end)"),
                ])
                let (state, reason) = try await end.bring(asked, scene)
                let call = try #require(await calls.next())
                let body = try Self.verified(call, for: scene)
                #expect(body["type"] == .string("challenge.\(state)"))
                let challenge = try #require(body["challenge"])
                let shown = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)").success()
                #expect(challenge["reason"]?.string == reason)
                #expect(challenge["client_state"] == .string("order \(end)"))
                let names = ["id", "state", "reason", "method", "user", "client_state", "ended_at"]
                for name in names {
                    #expect(challenge[name] == shown[name], "\(name) of \(end)")
                }
                // The number is told once, to who asked; nothing else is told either.
                #expect(challenge.object?.members.allSatisfy { names.contains($0.name) } == true)
                #expect(body.object?.members.map(\.name).sorted() == ["challenge", "timestamp", "type"])
                #expect(ids.insert(try #require(call.headers["webhook-id"])).inserted)
                if end == .reported {
                    #expect(try await scene.administrator.call(.DELETE, "/v1/admin/locks/\(asked.id)").status == 204)
                }
            }
        }
    }

    @Test("A challenge asked without a callback is told to nobody, and each is told where it asked to be")
    func onlyWhoAsked() async throws {
        try await Self.with { scene, receiver, calls in
            let silent = try await scene.ask()
            _ = try await scene.approve(silent).success()
            let loud = try await scene.ask(["callback_uri": .string(receiver.url)])
            _ = try await scene.approve(loud).success()
            // The first to arrive is the second that ended.
            let body = try Self.verified(try #require(await calls.next()), for: scene)
            #expect(body["challenge"]?["id"] == .string(loud.id))
        }
    }

    @Test("Standard Webhooks: a post that failed comes again with its id and body, signed for its new time")
    func again() async throws {
        try await Self.with([500, 302]) { scene, receiver, calls in
            let asked = try await scene.ask(["callback_uri": .string(receiver.url)])
            _ = try await scene.phone.answer(asked.id, .denied).success()
            var posts: [CallbackReceiver.Call] = []
            for pause: Int64 in [3, 6, 0] {
                let call = try #require(await calls.next())
                _ = try Self.verified(call, for: scene)
                posts.append(call)
                // Posts are noted after they were answered; what is due by then is found at the next look.
                try await letItWait()
                scene.server.clock.advance(seconds: pause)
            }
            #expect(posts.allSatisfy { $0.headers["webhook-id"] == posts[0].headers["webhook-id"] })
            #expect(posts.allSatisfy { $0.body == posts[0].body })
            #expect(Set(posts.map { $0.headers["webhook-timestamp"] }).count == 3)
            // However often it fails, the challenge stands as it ended.
            #expect(try await scene.state(of: asked.id) == "denied")
        }
    }
}
