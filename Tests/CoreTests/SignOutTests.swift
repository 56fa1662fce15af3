import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A person signs out")
struct SignOutTests {
    private func sid(_ session: Secret<String>, for client: ClientID, _ scene: SignInScene) async throws -> String? {
        let now = scene.world.time.now
        return try await scene.world.store.read { reader in
            try reader.sessions.find(SecretHash(of: session), at: now).flatMap {
                try reader.sessions.sid(of: $0.id, for: client)
            }
        }
    }

    private func isSignedIn(_ session: Secret<String>, _ scene: SignInScene) async throws -> Bool {
        try await SignOut.isSignedIn(session, ports: scene.world.ports)
    }

    @Test("Without a question only by the session's own name, which the client has", arguments: Engine.allCases)
    func named(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let finished = try await scene.signedIn()
        let session = try #require(finished.session).secret
        guard case .redeemed(let redeemed) = try await scene.redeem(finished.code) else { throw World.Broken("redeem") }
        let tokens = try await SignTokens.sign(redeemed, ports: scene.world.ports)
        let name = try #require(try await sid(session, for: scene.shop.id, scene))
        #expect(name == redeemed.family.sid)
        let other = try await scene.otherClient()
        let ports = scene.world.ports
        #expect(try await !SignOut.signOut(session, named: "x\(name)", by: scene.shop.id, ports: ports))
        #expect(try await !SignOut.signOut(session, named: name, by: other, ports: ports))
        #expect(try await !SignOut.signOut(Secret("none"), named: name, by: scene.shop.id, ports: ports))
        #expect(try await isSignedIn(session, scene))
        #expect(try await scene.isGood(tokens))
        #expect(try await SignOut.signOut(session, named: name, by: scene.shop.id, ports: ports))
        #expect(try await !isSignedIn(session, scene))
        #expect(try await !scene.isGood(tokens))
        #expect(try await !SignOut.signOut(session, named: name, by: scene.shop.id, ports: ports))
        #expect(try await scene.world.audit().count { $0.kind == .sessionEnded } == 1)
    }

    @Test("Refresh tokens outlive the session, unless the person signs out of all")
    func extent() async throws {
        for (extent, isKept) in [(SignOut.Extent.session, true), (.everything, false)] {
            let scene = try await SignInScene()
            let session = try #require(try await scene.signedIn().session).secret
            var wanted = try scene.wanted()
            wanted.scopes.append(TokenFamily.offlineAccess)
            guard
                case .finished(let finished) = try await FinishSignIn.goOn(
                    wanted, in: session, browser: scene.browser, ports: scene.world.ports),
                case .redeemed(let given) = try await scene.redeem(finished.code)
            else { throw World.Broken("offline") }
            let tokens = try await SignTokens.sign(given, ports: scene.world.ports)
            try await SignOut.signOut(session, extent, ports: scene.world.ports)
            #expect(try await !isSignedIn(session, scene))
            let refreshed = try await scene.refresh(tokens.refresh)
            if case .refreshed = refreshed { #expect(isKept) } else { #expect(!isKept, "\(refreshed)") }
        }
    }

    @Test("What travels with the page opens in its browser alone, for half an hour")
    func sealed() async throws {
        let scene = try await SignInScene()
        let ports = scene.world.ports
        let wanted = WantedSignOut(client: scene.shop.id, returnURI: "https://shop.example.com/", clientState: "s")
        let text = try wanted.sealed(for: scene.browser, ports: ports)
        #expect(WantedSignOut(opening: text, in: scene.browser, ports: ports) == wanted)
        #expect(WantedSignOut(opening: text, in: try SignInScene.browser("two"), ports: ports) == nil)
        let signIn = try SealedSignIn.seal(CarriedSignIn(wanted: try scene.wanted()), for: scene.browser, ports: ports)
        #expect(WantedSignOut(opening: signIn, in: scene.browser, ports: ports) == nil)
        scene.world.time.advance(SealedSignIn.lifetime)
        #expect(WantedSignOut(opening: text, in: scene.browser, ports: ports) == nil)
    }
}
