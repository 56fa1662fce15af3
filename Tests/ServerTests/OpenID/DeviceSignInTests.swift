import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: RFC 7521 §4.1, RFC 7523 §2.1; docs/protocol/signing-in.md, *The request*, *With a PIN or a biometric*.
@Suite("A device signs its user in at the token endpoint")
struct DeviceSignInTests {
    private func signIn(
        _ scene: SignInPageScene, challenge: ChallengeID? = nil, _ further: [(String, String)] = [],
        basic: (String, String)? = nil
    ) async throws -> Reply {
        let phone = scene.scene.phone
        let assertion = DeviceAssertion(
            enrollment: phone.enrollment, user: phone.user, issuer: scene.server.issuer, client: scene.credential.id,
            challenge: challenge, named: UUID().uuidString, at: scene.server.clock.now)
        let text = try await assertion.signed(by: phone.authentication)
        return try await scene.token(
            [("grant_type", DeviceAssertion.grantType), ("assertion", text)] + further, basic: basic)
    }

    @Test("A client without a secret gets tokens for an assertion, one with a secret must show it")
    func signsIn() async throws {
        try await SignInPageScene.with(["profile": "native", "redirect_uris": ["http://127.0.0.1/callback"]]) { scene in
            let client = ("client_id", scene.credential.id)
            let reply = try await signIn(scene, [client, ("scope", "openid offline_access enroll email")])
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json["scope"] == "openid email" && reply.json["refresh_token"] == nil)
            let token = try #require(reply.json["access_token"]?.string)
            #expect(try await scene.userinfo(token).json["sub"] == .string(scene.scene.user))
            #expect(try await signIn(scene, [client]).json["scope"] == "openid")
            for scope in ["enroll", "offline_access enroll", "unheard"] {
                let nothing = try await signIn(scene, [client, ("scope", scope)])
                #expect(nothing.status == 400 && nothing.json["error"] == "invalid_scope", "\(scope)")
            }
            let missing = try await scene.token([("grant_type", DeviceAssertion.grantType), client])
            #expect(missing.status == 400 && missing.json["error"] == "invalid_request")
            let bad = try await scene.token(
                [("grant_type", DeviceAssertion.grantType), ("assertion", "a.b.c"), client])
            #expect(bad.status == 400 && bad.json["error"] == "invalid_grant", "\(bad)")
            try await scene.set([:])
            let secretless = try await signIn(scene, [client])
            #expect(secretless.status == 401 && secretless.json["error"] == "invalid_client")
            #expect(try await signIn(scene, basic: scene.credential).status == 200)
            let metadata = try await scene.server.send(
                .GET, "/.well-known/openid-configuration", isContract: false)
            for _ in 0..<60 { _ = try await signIn(scene, basic: scene.credential) }
            let many = try await signIn(scene, basic: scene.credential)
            #expect(many.status == 429 && many.json["error"] == "temporarily_unavailable", "\(many)")
            #expect(many.headers["retry-after"] != nil)
            #expect(metadata.json["grant_types_supported"]?.array?.contains(.string(DeviceAssertion.grantType)) == true)
        }
    }

    @Test("A challenge for the PIN is the device's alone, and says why there is none")
    func challenge() async throws {
        try await SignInPageScene.with { scene in
            let phone = scene.scene.phone
            let path = "/v1/enrollments/self/sign-ins"
            let body: JSONValue = ["client": .string(scene.credential.id)]
            let none = try await phone.send(.POST, path, body)
            #expect(none.refusal == Refusal(409, "method_missing") && none.json["methods"] == ["biometric", "pin"])
            let unknown: JSONValue = ["client": "cli_01m7yfdqve7kp86cjznhx1qer1"]
            #expect(try await phone.send(.POST, path, unknown).refusal == Refusal(404, "client_not_found"))
            #expect(try await phone.send(.POST, path, ["client": "x"]).refusal == Refusal(404, "client_not_found"))
            #expect(try await phone.send(.POST, path, [:]).refusal == Refusal(422, "missing_member"))
            let more: JSONValue = ["client": .string(scene.credential.id), "scope": "openid"]
            #expect(try await phone.send(.POST, path, more).refusal == Refusal(422, "unknown_member"))
            #expect(try await scene.scene.shop.call(.POST, path, body).refusal == Refusal(401, "signature_missing"))
            // An assertion that names a challenge which nobody has approved.
            let id = try #require(ChallengeID("chl_01m7yfdxsqjqckvr59wm88r0ae"))
            let reply = try await signIn(scene, challenge: id, basic: scene.credential)
            #expect(reply.status == 400 && reply.json["error"] == "invalid_grant", "\(reply)")
        }
    }
}
