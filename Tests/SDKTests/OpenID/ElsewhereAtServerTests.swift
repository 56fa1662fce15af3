import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("At the real server a device signs its user in by an approval on the phone", .timeLimit(.minutes(15)))
struct ElsewhereAtServerTests {
    /// The shop's app on a television, which may name the person whose devices are asked.
    private func app(_ scene: SDKScene) async throws -> OpenIDClient {
        let bytes = try #require(Base64.decode(scene.shop.authorization.dropFirst(6)))
        let id = String(String(decoding: bytes, as: UTF8.self).prefix { $0 != ":" })
        let settings: JSONValue = [
            "profile": "native", "redirect_uris": [], "device_grant": true, "device_login_hint": true,
        ]
        let reply = try await scene.server.administrator.call(.PUT, "/v1/admin/clients/\(id)/openid", settings)
        #expect(reply.status == 200, "\(reply)")
        let email: JSONValue = ["email": "customer-1@example.com"]
        #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", email).status == 200)
        return try OpenIDClient(
            OpenIDRegistration(
                issuer: try #require(URL(string: "\(scene.server.issuer)")), clientID: id,
                redirectURI: try #require(URL(string: "http://127.0.0.1/callback"))),
            vault: MemoryVault(), transport: scene.transport, clock: scene.clock)
    }

    /// A sign-in under way: its code or "" at the end, and the number that it shows.
    private func begin(_ app: OpenIDClient) async throws -> (end: Task<String, Never>, number: String) {
        let (numbers, show) = AsyncStream.makeStream(of: String.self)
        let end = Task {
            await code {
                _ = try await app.signInElsewhere(loginHint: "customer-1@example.com") { prompt in
                    show.yield(prompt.number ?? "")
                }
            }
        }
        let number = await numbers.first { _ in true }
        return (end, try #require(number))
    }

    /// What the phone is asked, as soon as the server has put it there.
    private func question(_ scene: SDKScene) async throws -> OpenedChallenge {
        while true {
            if let pending = try await scene.authenticator.pendingChallenges().first { return try await pending.open() }
            try await Task.sleep(for: .milliseconds(25))
        }
    }

    @Test("The number that the device shows, typed on the phone, signs in; without a refresh token")
    func approved() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let (end, number) = try await begin(app)
            _ = try await question(scene).approve(with: .confirmation, number: number)
            #expect(await end.value == "")
            let signedIn = try #require(try await app.signedIn())
            #expect(signedIn.identity.subject == scene.user && !signedIn.isLasting && signedIn.scopes == ["openid"])
            #expect(signedIn.identity.acr == "urn:countersign:acr:device")
            #expect(try await app.userInfo().subject == scene.user)
            guard case .complete = try await app.signOut() else { throw CancellationError() }
            #expect(try await app.signedIn() == nil)
        }
    }

    @Test("A no on the phone, and a wrong number, are one on the device", arguments: [true, false])
    func declined(_ isDenied: Bool) async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let (end, number) = try await begin(app)
            let question = try await question(scene)
            if isDenied {
                _ = try await question.deny()
            } else {
                let wrong = EntryNumber(value: ((UInt32(number) ?? 0) + 1) % 1_000_000).digits
                #expect(
                    await code { _ = try await question.approve(with: .confirmation, number: wrong) }
                        == "number_incorrect")
            }
            #expect(await end.value == "sign_in_declined")
            #expect(try await app.signedIn() == nil)
        }
    }

    @Test("A device that gives up ends the question, and a yes comes too late")
    func givenUp() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let (end, number) = try await begin(app)
            let question = try await question(scene)
            end.cancel()
            #expect(await end.value == "cancelled")
            #expect(
                await code { _ = try await question.approve(with: .confirmation, number: number) } == "challenge_ended")
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
            #expect(try await app.signedIn() == nil)
        }
    }

    @Test("Without a hint nobody is asked, and there is a page and a code instead of a number")
    func plain() async throws {
        try await SDKScene.with { scene in
            let app = try await app(scene)
            let (prompts, show) = AsyncStream.makeStream(of: SignInPrompt.self)
            let end = Task { await code { _ = try await app.signInElsewhere { show.yield($0) } } }
            let first = await prompts.first { _ in true }
            let prompt = try #require(first)
            #expect(prompt.number == nil && prompt.expiresIn == .seconds(600))
            #expect(prompt.verificationURI.absoluteString == "\(scene.server.issuer)/device")
            let whole = prompt.verificationURIComplete?.absoluteString
            #expect(whole?.hasPrefix("\(scene.server.issuer)/device?") == true)
            #expect(prompt.userCode.wholeMatch(of: /[B-Z]{4}-[B-Z]{4}/) != nil)
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
            end.cancel()
            #expect(await end.value == "cancelled")
        }
    }

    @Test("A client for which the operator has not turned it on, or named people, signs nobody in")
    func off() async throws {
        try await SDKScene.with { scene in
            _ = try await app(scene)
            let bytes = try #require(Base64.decode(scene.shop.authorization.dropFirst(6)))
            let id = String(String(decoding: bytes, as: UTF8.self).prefix { $0 != ":" })
            let path = "/v1/admin/clients/\(id)/openid"
            for (settings, hint) in [
                (["profile": "native", "redirect_uris": ["http://127.0.0.1/callback"]], nil),
                (["profile": "native", "redirect_uris": [], "device_grant": true], "customer-1@example.com"),
            ] as [(JSONValue, String?)] {
                #expect(try await scene.server.administrator.call(.PUT, path, settings).status == 200)
                let app = try OpenIDClient(
                    OpenIDRegistration(
                        issuer: try #require(URL(string: "\(scene.server.issuer)")), clientID: id,
                        redirectURI: try #require(URL(string: "http://127.0.0.1/callback"))),
                    vault: MemoryVault(), transport: scene.transport, clock: scene.clock)
                #expect(await code { _ = try await app.signInElsewhere(loginHint: hint) { _ in } } == "sign_in_refused")
            }
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
        }
    }
}
