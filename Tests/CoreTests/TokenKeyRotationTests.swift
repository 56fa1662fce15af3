import CountersignStorage
import CountersignWire
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: OpenID Connect Core 1.0 §10.1.1; docs/decisions/0064-keys-that-rotate.md.
@Suite("Keys of tokens rotate under running servers")
struct TokenKeyRotationTests {
    /// Two servers on one database, each of which reads the keys once a minute, and not when the other does.
    private struct Scene: Sendable {
        let shop: SignInScene
        let servers: [World]
        let refresh: Secret<String>

        init(_ engine: Engine) async throws {
            shop = try await SignInScene(engine, profile: .web)
            servers = [shop.world, try await shop.world.reopened()]
            for server in servers { try await server.store.refreshKeys() }
            refresh = try #require(try await shop.offline().tokens.refresh)
        }

        /// Has each server sign tokens, and each take them; returns the names of the keys that signed a kind of token.
        func sign(_ use: KeyUse) async throws -> Set<String> {
            var names: Set<String> = []
            for signer in servers {
                let outcome = try await RefreshTokens.refresh(
                    refresh, scopes: nil, by: shop.shop.id, ports: signer.ports)
                guard case .refreshed(let given) = outcome else { throw World.Broken("\(outcome)") }
                let tokens = try await SignTokens.sign(given, ports: signer.ports)
                let (access, identity) = (tokens.access, try #require(tokens.identity))
                for server in servers {
                    guard case .claims = try await ShowClaims.show(access, ports: server.ports) else {
                        throw World.Broken("a token was refused")
                    }
                    let published = try server.ports.keys.current().tokens.published
                    for token in [access, identity] { #expect(published[try Self.keyID(token)] != nil) }
                }
                names.insert(try Self.keyID(use == .token ? access : identity))
            }
            return names
        }

        private static func keyID(_ token: Secret<String>) throws -> String {
            let header = try #require(Base64URL.decode(String(token.reveal().split(separator: ".")[0])))
            return try #require(try JSONValue(parsing: header)["kid"]?.string)
        }

        /// Some minutes in which both servers sign; one of them takes the steps that are due.
        func pass(minutes: Int, _ use: KeyUse) async throws -> Set<String> {
            var names: Set<String> = []
            for half in 0..<(2 * minutes) {
                shop.world.time.advance(seconds: 30)
                names.formUnion(try await sign(use))
                try await RotateIssuerKey.sweep(ports: servers[(half / 2) % 2].ports)
                names.formUnion(try await sign(use))
                try await servers[half % 2].store.refreshKeys()
                names.formUnion(try await sign(use))
            }
            return names
        }
    }

    @Test(
        "No token is refused while its key is replaced, whichever server signs and which reads it",
        arguments: [KeyUse.token, .tokenRS256], Engine.allCases)
    func rotates(_ use: KeyUse, _ engine: Engine) async throws {
        let scene = try await Scene(engine)
        var names = try await scene.sign(use)
        #expect(names.count == 1)
        for isAtOnce in [false, true] {
            let outcome = try await RotateIssuerKey.begin(
                use, isAtOnce: isAtOnce, by: .system, ports: scene.shop.world.ports)
            guard case .begun = outcome else { throw World.Broken("\(outcome)") }
            names.formUnion(try await scene.pass(minutes: 4, use))
            // Past what publishes, what is current and what is honoured.
            for _ in 0..<3 {
                scene.shop.world.time.advance(seconds: 86_400 - 5 * 60)
                for server in scene.servers { try await server.store.refreshKeys() }
                names.formUnion(try await scene.pass(minutes: 6, use))
            }
            #expect(names.count == (isAtOnce ? 3 : 2))
        }
    }
}
