import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Okta: the devices of a user")
struct OktaDeviceTests {
    @Test("The app's own devices are listed, and deleted once")
    func deletes() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let list = try await phone.call(.GET, OktaScene.path).success()
            #expect(list.array?.map { $0["id"] } == [.string(phone.id)])
            let reply = try await phone.call(.DELETE, phone.path)
            #expect(reply.status == 204 && reply.body.isEmpty, "\(reply)")
            expectCode(try await phone.call(.DELETE, phone.path), 410, "E0000154")
            #expect(try await phone.call(.GET, OktaScene.path).success() == [])
            let events = try await scene.administrator.auditEvents()
            let removed = events.filter { $0["kind"] == "enrollment.removed" }
            #expect(removed.count == 1 && removed[0]["actor"] == .string("client:\(scene.client)"), "\(removed)")
        }
    }

    @Test("A suspended device is deleted as well, and what it is asked is refused until it is resumed")
    func suspended() async throws {
        try await OktaScene.with { scene in
            let phone = try await scene.enrolledPhone()
            let path = "/v1/admin/enrollments/\(phone.id)"
            #expect(try await scene.administrator.call(.POST, "\(path)/suspend").status < 300)
            expectCode(try await phone.call(.GET, "\(phone.path)/push/notifications"), 423, "E0000180")
            expectCode(try await phone.patch(["pushToken": "aa"]), 423, "E0000180")
            let list = try await phone.call(.GET, OktaScene.path).success()
            #expect(list.array?.first?["device"]?["status"] == "SUSPENDED", "\(list)")
            #expect(try await scene.administrator.call(.POST, "\(path)/resume").status < 300)
            #expect(try await phone.pending() == [])
            #expect(try await scene.administrator.call(.POST, "\(path)/suspend").status < 300)
            #expect(try await phone.call(.DELETE, phone.path).status == 204)
        }
    }

    @Test("What only reads deletes nothing; another user's device, one of ours and another client's are as none")
    func scopes() async throws {
        try await OktaScene.with { scene in
            let (phone, other) = (try await scene.enrolledPhone("anna"), try await scene.enrolledPhone("bert"))
            let ours = scene.scene.phone.enrollment
            let unknown = "enr_01m7yfdvpt5prmr79m8dcgymep"
            for id in [other.id, "\(ours)", unknown, "nobody"] {
                let path = "\(OktaScene.path)/\(id)"
                expectCode(try await phone.call(.DELETE, path), 404, "E0000007")
                expectCode(try await phone.call(.GET, "\(path)/push/notifications"), 404, "E0000007")
                let patch: JSONValue = ["methods": ["push": ["pushToken": "aa"]]]
                expectCode(try await phone.call(.PATCH, path, patch), 404, "E0000007")
            }
            // A client of its own, with everything but this user's devices.
            let made = try await scene.server.makeClient("Cheat", ["vendors": ["okta"]])
            let cheat = OktaScene(
                pages: SignInPageScene(
                    scene: scene.scene, browser: TestBrowser(scene.server), credential: made.credential))
            try await cheat.pages.set([
                "profile": "native", "asked_browsers": "all",
                "ways": ["device", "email"], "registration": "open",
            ])
            let token = try #require(
                try await cheat.signIn("clara", OktaScene.scopes)["access_token"]?.string)
            expectCode(try await phone.call(.DELETE, phone.path, by: token), 404, "E0000007")
            #expect(try await phone.call(.GET, OktaScene.path, by: token).success() == [])
            let reading = try #require(
                try await scene.signIn("dora", "okta.authenticators.read")["access_token"]?.string)
            expectCode(try await phone.call(.DELETE, phone.path, by: reading), 403, "E0000006")
            expectCode(
                try await phone.call(.GET, "\(phone.path)/push/notifications", by: reading), 403, "E0000006")
            #expect(try await scene.administrator.auditCount("enrollment.removed") == 0)
        }
    }
}
