import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Users, as the clients linked to them see them")
struct UserTests {
    @Test(
        "An external id names one user of a client: a second is 409 external_id_taken, and nothing is made or changed")
    func taken() async throws {
        try await Scene.with { scene in
            let other = try await scene.shop.makeUser("customer-2")
            let before = try await scene.snapshot()
            let same: JSONValue = ["external_id": "customer-1"]
            expectRefusal(try await scene.shop.call(.POST, "/v1/users", same), 409, "external_id_taken")
            for path in ["/v1/users/\(other)", "/v1/users/external_id:customer-2"] {
                expectRefusal(try await scene.shop.call(.PATCH, path, same), 409, "external_id_taken")
            }
            #expect(try await scene.snapshot() == before)
            #expect(try await scene.shop.call(.GET, "/v1/users/\(other)").json["external_id"] == "customer-2")
            // The user's own name is no other user's.
            #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", same).status == 200)
            // Names are compared by their bytes.
            for name in ["Customer-1", "customer-1.", "customer\u{2010}1"] {
                let made = try await scene.shop.call(.POST, "/v1/users", ["external_id": .string(name)])
                #expect(made.status == 201, "\(made)")
            }
        }
    }

    @Test("Of ten that are made at once with one external id, one is made")
    func atOnce() async throws {
        try await Scene.with { scene in
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<10 {
                    group.addTask { try await scene.shop.call(.POST, "/v1/users", ["external_id": "new"]) }
                }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            #expect(replies.count { $0.status == 201 } == 1)
            #expect(replies.count { $0.code == "external_id_taken" } == 9)
        }
    }

    @Test("RFC 7396 §2: a change gives a name, takes it with null, and leaves it when it does not speak of it")
    func changes() async throws {
        try await Scene.with { scene in
            let path = "/v1/users/\(scene.user)"
            let steps: [(JSONValue, String?)] = [
                ([:], "customer-1"), (["external_id": "renamed"], "renamed"), ([:], "renamed"),
                (["external_id": .null], nil), ([:], nil), (["external_id": "customer-1"], "customer-1"),
            ]
            for (change, name) in steps {
                let changed = try await scene.shop.call(.PATCH, path, change).success()
                #expect(changed["external_id"]?.string == name)
                #expect(changed == (try await scene.shop.call(.GET, path).success()))
            }
            let byName = try await scene.shop.call(.GET, "/v1/users/external_id:customer-1").success()
            #expect(byName["id"] == .string(scene.user))
            expectRefusal(try await scene.shop.call(.GET, "/v1/users/external_id:renamed"), 404, "user_not_found")
        }
    }

    @Test("A user that its last client lets go is gone, and its name free again")
    func unlinked() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask()
            #expect(try await scene.shop.call(.DELETE, "/v1/users/\(scene.user)").status == 204)
            for path in ["/v1/users/\(scene.user)", "/v1/users/external_id:customer-1"] {
                expectRefusal(try await scene.shop.call(.GET, path), 404, "user_not_found")
                expectRefusal(try await scene.shop.call(.DELETE, path), 404, "user_not_found")
            }
            #expect(try await scene.state(of: asked.id) != "pending")
            let again = try await scene.shop.makeUser("customer-1")
            #expect(again != scene.user)
            let methods = try await scene.shop.call(.GET, "/v1/users/\(again)/methods").success()
            #expect(methods == ["types": []])
        }
    }
}
