import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: OpenID Connect Core 1.0 §5.1.2.
@Suite("What a client says of a user for itself", .timeLimit(.minutes(15)))
struct OwnClaimsTests {
    private func claims(of code: String, _ scene: SignInPageScene) async throws -> (JSONValue, access: String) {
        let tokens = try await scene.redeem(code).success()
        let access = try #require(tokens["access_token"]?.string)
        return (try await scene.userinfo(access).success(), access)
    }

    @Test("Userinfo gives it back to this client, as it is at that time; it is in the export")
    func given() async throws {
        try await SignInPageScene.with { scene in
            let path = "/v1/users/\(scene.scene.user)"
            let said: JSONValue = ["groups": ["support", "sales"], "level": 3]
            #expect(try await scene.scene.shop.call(.PATCH, path, ["claims": said]).status == 200)
            #expect(try await scene.scene.shop.call(.GET, path).json["claims"] == said)
            let code = try #require(try await scene.signIn().result["code"])
            let (info, access) = try await claims(of: code, scene)
            #expect(info["groups"] == ["support", "sales"] && info["level"] == 3, "\(info)")
            #expect(info["sub"] == .string(scene.scene.user))
            // Who is not linked to the user says nothing of them.
            let other = try await scene.server.makeClient("Other")
            #expect(try await other.call(.PATCH, path, ["claims": said]).code == "user_not_found")
            // As a whole, not part by part.
            #expect(try await scene.scene.shop.call(.PATCH, path, ["claims": ["level": 4]]).status == 200)
            #expect(try await scene.userinfo(access).json["groups"] == nil)
            #expect(try await scene.userinfo(access).json["level"] == 4)
            // What does not name them leaves them.
            #expect(try await scene.scene.shop.call(.PATCH, path, ["enrollment_blocked": false]).status == 200)
            #expect(try await scene.userinfo(access).json["level"] == 4)
            let export = try await scene.scene.administrator.call(.GET, "/v1/admin/users/\(scene.scene.user)/export")
            #expect(String(decoding: export.body, as: UTF8.self).contains(#"{"level":4}"#), "\(export)")
            #expect(try await scene.scene.shop.call(.PATCH, path, ["claims": .null]).status == 200)
            #expect(try await scene.userinfo(access).json["level"] == nil)
            let events = try await scene.scene.administrator.call(.GET, "/v1/admin/events?kind=user.claims_set")
                .success()
            #expect(events["events"]?.array?.count == 3)
        }
    }

    // Spec: RFC 7519 §4.1, OpenID Connect Core 1.0 §5.6.2.
    @Test("A name that the provider gives itself or that tokens need is refused, and so is what is too long")
    func refused() async throws {
        try await SignInPageScene.with { scene in
            let path = "/v1/users/\(scene.scene.user)"
            let long = JSONValue.string(String(repeating: "x", count: UserClaims.maximumLength))
            var wrong: [JSONValue] = [[:], [1], "groups", ["": 1], ["long": long]]
            wrong += UserClaims.reserved.sorted().map { .members([:]).with($0, "x") }
            for claims in wrong {
                let reply = try await scene.scene.shop.call(.PATCH, path, ["claims": claims])
                #expect(reply.status == 422 && reply.json["pointer"] == "/claims", "\(claims): \(reply)")
            }
            #expect(try await scene.scene.shop.call(.GET, path).json["claims"] == nil)
        }
    }
}

extension JSONValue {
    fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
        var object = object ?? JSONObject()
        object[name] = value
        return .object(object)
    }
}
