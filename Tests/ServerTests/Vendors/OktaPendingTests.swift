import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Okta: what a device is asked")
struct OktaPendingTests {
    @Test("The open challenges, newest first, each until it ends; at most ten, and none is an empty list")
    func list() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            #expect(try await phone.call(.GET, "\(phone.path)/push/notifications").success() == [])
            let (first, second) = (try await scene.ask(phone), try await scene.ask(phone))
            let pending = try await phone.pending()
            #expect(try pending.map { try OktaPhone.claims($0)["transactionId"] } == [.string(second), .string(first)])
            let path = "/v1/challenges/\(second)"
            #expect(try await scene.shop.call(.DELETE, path).status < 300)
            let left = try await phone.pending()
            #expect(try left.map { try OktaPhone.claims($0)["transactionId"] } == [.string(first)])
            for _ in 0..<12 { _ = try await scene.ask(phone) }
            #expect(try await phone.pending().count == 10)
            scene.server.clock.advance(seconds: 121)
            // The token of the sign-in is good for longer.
            #expect(try await phone.pending() == [])
        }
    }

    @Test("What is fetched shows the whole message; the push, which others deliver, the short one")
    func messages() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            _ = try await scene.ask(phone, "tap", ["message": "A payment", "secure_message": "EUR 5 to ACME"])
            let challenge = try #require(try await phone.pending().first)
            let claims = try OktaPhone.claims(challenge)
            #expect(claims["challengeContext"]?["bindingMessage"] == "EUR 5 to ACME")
        }
    }

    @Test("A token that only reads learns nothing, one of maintenance what its own device is asked")
    func scopes() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let other = try await scene.enrolledPhone("bert")
            _ = try await scene.ask(phone)
            let reading = try #require(
                try await scene.signIn("carla", "okta.authenticators.read")["access_token"]?.string)
            let path = "\(phone.path)/push/notifications"
            expectCode(try await phone.call(.GET, path, by: reading), 403, "E0000006")
            for scope in ["manage", "read"] {
                let name = "okta.myAccount.appAuthenticator.maintenance.\(scope)"
                let given = try await phone.maintain(try await phone.assertion(), name).success()
                let token = try #require(given["access_token"]?.string)
                #expect(try await phone.pending(by: token).count == 1)
                expectCode(
                    try await phone.call(.GET, "\(other.path)/push/notifications", by: token), 403, "E0000006")
            }
        }
    }
}
