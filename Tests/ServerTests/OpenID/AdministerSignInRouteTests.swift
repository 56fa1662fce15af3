import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Operators see and remove passkeys and addresses over HTTP")
struct AdministerSignInRouteTests {
    @Test("A user's passkeys are listed and removed; a client may not, and nothing is removed twice")
    func passkeys() async throws {
        try await PasskeyPageTests.with { scene in
            _ = try await PasskeyPageTests.registered(scene)
            let administrator = scene.scene.administrator
            let path = "/v1/admin/users/\(scene.scene.user)/passkeys"
            let listed = try #require(try await administrator.call(.GET, path).success()["passkeys"]?.array)
            #expect(listed.count == 1 && listed[0]["used_at"] == nil && listed[0]["synced"] != nil)
            let id = try #require(listed[0]["id"]?.string)
            for method in [HTTPMethod.GET, .DELETE] {
                let refused = try await scene.scene.shop.call(method, method == .GET ? path : "\(path)/\(id)")
                #expect(refused.refusal == Refusal(403, "right_missing"))
            }
            #expect(try await administrator.call(.DELETE, "\(path)/\(id)").status == 204)
            #expect(try await administrator.call(.GET, path).success() == ["passkeys": []])
            for gone in [id, "psk_x", "x"] {
                let again = try await administrator.call(.DELETE, "\(path)/\(gone)")
                #expect(again.refusal == Refusal(404, "passkey_not_found"), "\(gone)")
            }
            let nobody = "/v1/admin/users/usr_01kah3b1g00000000000000000/passkeys"
            #expect(try await administrator.call(.GET, nobody).refusal == Refusal(404, "user_not_found"))
            let removed = try await administrator.call(.DELETE, "\(nobody)/\(id)")
            #expect(removed.refusal == Refusal(404, "user_not_found"))
        }
    }

    @Test("A user's addresses are listed, with what clients say, and removed in any spelling")
    func addresses() async throws {
        try await SignInPageScene.with(["asked_browsers": "all", "ways": ["device", "email"]]) { scene in
            let administrator = scene.scene.administrator
            let path = "/v1/admin/users/\(scene.scene.user)/addresses"
            func listed() async throws -> [JSONValue] {
                try #require(try await administrator.call(.GET, path).success()["addresses"]?.array)
            }
            let said = try await listed()
            #expect(said.count == 1 && said[0]["client"] == .string(scene.credential.id))
            _ = try await scene.signInByMail("customer-1@example.com")
            #expect(try await listed().contains { $0["verified_at"] != nil })
            let refused = try await scene.scene.shop.call(.DELETE, "\(path)/customer-1%40example.com")
            #expect(refused.refusal == Refusal(403, "right_missing"))
            #expect(try await administrator.call(.DELETE, "\(path)/%20Customer-1%40Example.com%20").status == 204)
            #expect(try await listed().isEmpty)
            for gone in ["customer-1%40example.com", "x", "%2B4915112345678"] {
                let again = try await administrator.call(.DELETE, "\(path)/\(gone)")
                #expect(again.refusal == Refusal(404, "address_not_found"), "\(gone)")
            }
            let nobody = "/v1/admin/users/usr_01kah3b1g00000000000000000/addresses"
            #expect(try await administrator.call(.GET, nobody).refusal == Refusal(404, "user_not_found"))
            let removed = try await administrator.call(.DELETE, "\(nobody)/customer-1%40example.com")
            #expect(removed.refusal == Refusal(404, "user_not_found"))
        }
    }

    @Test("A user's request code is removed, perhaps once more; a client may not")
    func userCode() async throws {
        try await Scene.with { scene in
            let path = "/v1/admin/users/\(scene.user)/user-code"
            #expect(try await scene.shop.call(.DELETE, path).refusal == Refusal(403, "right_missing"))
            for _ in 0..<2 { #expect(try await scene.administrator.call(.DELETE, path).status == 204) }
            let nobody = "/v1/admin/users/usr_01kah3b1g00000000000000000/user-code"
            let removed = try await scene.administrator.call(.DELETE, nobody)
            #expect(removed.refusal == Refusal(404, "user_not_found"))
        }
    }
}
