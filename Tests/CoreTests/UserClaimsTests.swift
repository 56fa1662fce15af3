import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: OpenID Connect Core 1.0 §5.1.2.
@Suite("What clients say of a user for themselves")
struct UserClaimsTests {
    @Test("Each client gets its own, and no other's; they end with the link", arguments: Engine.allCases)
    func isolated(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let (world, user) = (scene.world, scene.user)
        let other = try await world.makeClient("Other").client
        func link() async throws {
            #expect(try await world.store.commit { try $0.links.put(user, to: other.id, externalID: nil) })
        }
        func say(_ claims: JSONValue, by client: Client) async throws {
            let claims: UserClaims = try #require(UserClaims(claims))
            let changes = UpdateUser.Changes(claims: claims)
            guard case .updated = try await UpdateUser.update(.id(user), changes, by: client.caller, ports: world.ports)
            else { throw World.Broken("update") }
        }
        func said(by client: Client) async throws -> JSONValue? {
            guard case .user(_, _, let claims) = try await ShowUser.show(.id(user), to: client, ports: world.ports)
            else { throw World.Broken("show") }
            return claims.map { .object($0.json) }
        }
        try await link()
        try await say(["groups": ["a"]], by: scene.shop)
        try await say(["groups": ["b"]], by: other)
        #expect(try await said(by: scene.shop) == ["groups": ["a"]])
        #expect(try await said(by: other) == ["groups": ["b"]])
        let tokens = try await scene.tokens().tokens
        guard case .claims(_, _, let own, _) = try await ShowClaims.show(tokens.access, ports: world.ports) else {
            throw World.Broken("claims")
        }
        #expect(own?.json["groups"] == ["a"])
        _ = try await UnlinkUser.unlink(.id(user), from: other.caller, ports: world.ports)
        try await link()
        #expect(try await said(by: other) == nil)
        #expect(try await said(by: scene.shop) == ["groups": ["a"]])
        // What is in a row moved to another one does not open.
        try await world.sql(
            "UPDATE user_links SET claims = (SELECT claims FROM user_links WHERE client_id = '\(scene.shop.id)')")
        await #expect(throws: StoreError.self) { try await said(by: other) }
    }
}
