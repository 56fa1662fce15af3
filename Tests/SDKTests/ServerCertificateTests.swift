import Countersign
import CountersignCore
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("The SDK follows the issuer's keys when they rotate")
struct ServerCertificateTests {
    /// Has the server rotate a key at once, and waits until the next one is current.
    private static func rotate(
        _ use: KeyUse, compromised: Bool = false, in scene: SDKScene
    ) async throws {
        let path = "/v1/admin/issuer-keys/\(use.rawValue)/rotate"
        let begun = try await scene.server.administrator.call(
            .POST, path, ["at_once": true, "compromised": .bool(compromised)])
        #expect(begun.status == 202, "\(begun)")
        let next = try begun.success()["id"]
        scene.server.clock.advance(RotateIssuerKey.settling)
        try await until(in: scene) { keys in
            keys.contains { $0["id"] == next && $0["state"] == "current" }
                && (!compromised || !keys.contains { $0["use"] == .string(use.rawValue) && $0["state"] == "retired" })
        }
    }

    /// Waits until the server's keys are as they should be; it looks every ten seconds.
    private static func until(
        in scene: SDKScene, _ isRight: ([JSONValue]) -> Bool
    ) async throws {
        for _ in 0..<300 {
            let reply = try await scene.server.administrator.call(.GET, "/v1/admin/issuer-keys").success()
            if isRight(reply["keys"]?.array ?? []) { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        Issue.record("the keys did not change within a minute")
    }

    /// Waits until a key of before is honoured no more; by then the operator's token has expired.
    private static func untilRevoked(at server: TestServer) async throws {
        for _ in 0..<300 {
            let armored = try await server.send(.GET, "/v1/server-certificate").body
            let certificate = try Certificate(armored: String(decoding: armored, as: UTF8.self))
            if certificate.keys.contains(where: { $0.revokedAt != nil }) { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        Issue.record("no key was revoked within a minute")
    }

    private static func fetches(_ scene: SDKScene) -> Int {
        scene.transport.requests(to: "/v1/server-certificate").count
    }

    @Test("A key that it does not know makes it fetch the certificate, once; what it opens is then as before")
    func signing() async throws {
        try await SDKScene.with { scene in
            let before = Self.fetches(scene)
            try await Self.rotate(.signing, in: scene)
            for _ in 0..<2 {
                let asked = try await scene.ask()
                try await scene.open(asked).approve(with: .confirmation, number: asked.number)
                #expect(try await scene.status(of: asked).state == "approved")
            }
            #expect(Self.fetches(scene) == before + 1)
            // It is kept: after a start of the app nothing is fetched.
            let again = try await scene.relaunched()
            let asked = try await scene.ask()
            try await again.open(asked.id, for: scene.enrollment.id).deny()
            #expect(Self.fetches(scene) == before + 1)
        }
    }

    @Test("Where the certificate cannot be fetched it says so, and a moment later all is well")
    func unreachable() async throws {
        try await SDKScene.with { scene in
            try await Self.rotate(.signing, in: scene)
            let asked = try await scene.ask()
            scene.transport.loseRequests(.max, to: "/v1/server-certificate")
            #expect(await code { _ = try await scene.open(asked) } == "network")
            scene.transport.happen(nil)
            try await scene.open(asked).approve(with: .confirmation, number: asked.number)
        }
    }

    @Test("Two questions opened at once by a key that it does not know: one fetch, and both open")
    func together() async throws {
        try await SDKScene.with { scene in
            try await Self.rotate(.signing, in: scene)
            let before = Self.fetches(scene)
            let asked = try await [scene.ask(), scene.ask(), scene.ask()]
            try await withThrowingTaskGroup { group in
                for one in asked { group.addTask { _ = try await scene.open(one) } }
                try await group.waitForAll()
            }
            #expect(Self.fetches(scene) == before + 1)
        }
    }

    @Test("A certificate half a day old is fetched before anything is sealed: the earlier key is honoured for a day")
    func encryption() async throws {
        try await SDKScene.with { scene in
            let before = Self.fetches(scene)
            try await Self.rotate(.encryption, in: scene)
            let early = try await scene.ask()
            try await scene.open(early).approve(with: .confirmation, number: early.number)
            #expect(Self.fetches(scene) == before, "what it has is good")
            scene.server.clock.advance(RotateIssuerKey.honour)
            try await Self.untilRevoked(at: scene.server)
            let late = try await scene.ask()
            try await scene.open(late).approve(with: .confirmation, number: late.number)
            #expect(try await scene.status(of: late).state == "approved")
            #expect(Self.fetches(scene) == before + 1)
        }
    }

    @Test("A key that was taken out of use at once: the answer is sealed again, and decides")
    func compromised() async throws {
        try await SDKScene.with { scene in
            let before = Self.fetches(scene)
            try await Self.rotate(.encryption, compromised: true, in: scene)
            let asked = try await scene.ask()
            try await scene.open(asked).approve(with: .confirmation, number: asked.number)
            #expect(try await scene.status(of: asked).state == "approved")
            #expect(Self.fetches(scene) == before + 1)
            #expect(scene.transport.requests(to: "/answer").count == 2)
            let refused = try await scene.server.administrator.auditEvents().filter { $0["kind"] == "answer.refused" }
            #expect(refused.count == 1)
        }
    }

    @Test("A removal that a new key has signed is believed")
    func removal() async throws {
        try await SDKScene.with { scene in
            try await Self.rotate(.signing, in: scene)
            try await scene.removeAtServer()
            #expect(await code { _ = try await scene.authenticator.pendingChallenges() } == "device_deregistered")
            #expect(try await !scene.holdsKeys())
        }
    }
}
