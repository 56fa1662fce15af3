import CountersignCore
import CountersignServer
import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("Issue 20.20: a server deletes what its settings keep no longer, and nothing else")
struct RetentionTests {
    @Test("An ended challenge goes, its receipt stays, and another client gets neither")
    func swept() async throws {
        let folder = try TemporaryFolder()
        try await TestServer.with(
            dataFolder: folder.path("data"), settings: { $0.retention.challenges = .days(7) }
        ) { server in
            let scene = try await Scene.make(server)
            let rival = try await server.makeClient("Rival")
            let asked = try await scene.ask()
            #expect(try await scene.approve(asked).status == 200)
            let receipt = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)/receipt")
            let certificate = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)/receipt?format=certificate")
            server.clock.advance(seconds: 7 * 86_400 + 60)
            let open = try await scene.ask()
            // It is looked every ten seconds.
            var status = 200
            for _ in 0..<150 where status == 200 {
                try await Task.sleep(for: .milliseconds(200))
                status = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)").status
            }
            #expect(status == 404)
            let later = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)/receipt")
            #expect(later.status == 200 && later.body == receipt.body)
            #expect(
                try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)/receipt?format=certificate").body
                    == certificate.body)
            expectRefusal(
                try await rival.call(.GET, "/v1/challenges/\(asked.id)/receipt"), 404, "challenge_not_found")
            #expect(try await scene.state(of: open.id) == "pending")
        }
    }

    @Test("Of a deleted user the state of a question is still told, and nothing of what was asked")
    func deleted() async throws {
        try await Scene.with { scene in
            let asked = try await scene.ask(["state": "session 7"])
            #expect(try await scene.approve(asked).status == 200)
            let before = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)").success()
            #expect(before["client_state"] == "session 7")
            #expect(try await scene.shop.call(.DELETE, "/v1/users/\(scene.user)").status == 204)
            let after = try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)").success()
            #expect(after["state"] == "approved" && after["client_state"] == nil)
            #expect(try await scene.shop.call(.GET, "/v1/challenges/\(asked.id)/receipt").status == 200)
            let created = try await scene.administrator.auditEvents().filter { $0["kind"] == "enrollment.created" }
            #expect(created.count == 1 && created[0]["detail"]?["device"] == nil)
            #expect(created[0]["detail"]?["fingerprint"]?.string?.count == 40)
        }
    }
}
