import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 9700 §2.1.1.
@Suite("PKCE challenges and nonces that are constants")
struct ConstantValuesTests {
    /// Signs somebody in by a code that is sent to their address.
    private func signIn(
        _ name: String, _ challenge: String?, nonce: String? = nil, at client: ClientID? = nil, in scene: SignInScene
    ) async throws {
        var wanted = try scene.wanted(name)
        wanted.client = client ?? wanted.client
        (wanted.codeChallenge, wanted.nonce) = (challenge, nonce)
        let browser = try SignInScene.browser("of-\(name)")
        guard case .asked(let asked) = try await scene.ask(wanted, by: .email, in: browser) else {
            throw World.Broken("sign-in")
        }
        let code = try #require(try await scene.sent(for: asked))
        #expect(try await scene.enter(code, for: asked, in: browser) == .authenticated)
        guard case .finished = try await scene.finish(asked, in: browser) else { throw World.Broken("finish") }
        // The next code to the same address.
        scene.world.time.advance(seconds: 60)
    }

    private func told(_ scene: SignInScene) async throws -> [JSONValue?] {
        try await scene.world.audit().filter { $0.kind == .clientSendsConstants }.map { $0.detail["parameters"] }
    }

    @Test("What comes with the sign-ins of two people is a constant: the audit is told, once a day")
    func constants() async throws {
        let scene = try await SignInScene()
        try await scene.set(ways: [.email], registration: .open)
        // One person, who comes back to the page by the browser's history, is no sign of a constant.
        try await signIn("one", "A", nonce: "1", in: scene)
        try await signIn("one", "A", nonce: "1", in: scene)
        try await signIn("two", "B", nonce: "2", in: scene)
        try await signIn("three", nil, in: scene)
        try await signIn("one", nil, in: scene)
        #expect(try await told(scene) == [])
        try await signIn("two", "B", nonce: "3", in: scene)
        try await signIn("three", "B", nonce: "4", in: scene)
        #expect(try await told(scene) == [["code_challenge"]])
        try await signIn("one", "B", nonce: "4", in: scene)
        #expect(try await told(scene).count == 1)
        scene.world.time.advance(seconds: 86_400)
        try await signIn("two", "C", nonce: "4", in: scene)
        #expect(try await told(scene) == [["code_challenge"], ["nonce"]])
    }

    @Test("A session that goes on tells as well, and no client is held against another")
    func sessions() async throws {
        let scene = try await SignInScene()
        try await scene.set(ways: [.device, .email], registration: .open)
        let session = try #require(try await scene.signedIn().session).secret
        let other = try await scene.otherClient()
        let wanted = try scene.wanted()
        let challenge = try #require(wanted.codeChallenge)
        try await signIn("one", "A", in: scene)
        var elsewhere = wanted
        elsewhere.client = other
        _ = try await FinishSignIn.goOn(elsewhere, in: session, browser: scene.browser, ports: scene.world.ports)
        #expect(try await told(scene) == [])
        try await signIn("one", challenge, in: scene)
        guard
            case .finished = try await FinishSignIn.goOn(
                wanted, in: session, browser: scene.browser, ports: scene.world.ports)
        else { throw World.Broken("session") }
        #expect(try await told(scene) == [["code_challenge"]])
    }
}
