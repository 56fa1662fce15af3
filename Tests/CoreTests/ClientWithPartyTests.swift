import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A client is read, and locked, with how it uses the provider")
struct ClientWithPartyTests {
    @Test(
        "Both are as they are read alone; without settings there is a client and nothing to lock, and then neither",
        arguments: Engine.allCases)
    func both(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let (ports, id) = (scene.world.ports, scene.shop.id)
        func expectBoth(_ client: Client?, _ party: RelyingParty?) async throws {
            let found = try await ports.store.read { try $0.clients.findWithParty(id) }
            #expect(found?.client == client)
            #expect(found?.party == party)
            let held = try await ports.store.commit { try $0.clients.lockWithParty(id) }
            #expect(held?.client == (party == nil ? nil : client))
            #expect(held?.party == party)
        }
        let client = try #require(try await ports.store.read { try $0.clients.find(id) })
        let party = try #require(try await ports.store.read { try $0.relyingParties.find(id) })
        try await expectBoth(client, party)
        #expect(try await RemoveRelyingParty.remove(id, by: .system, ports: ports) == .removed)
        try await expectBoth(client, nil)
        #expect(try await DeleteClient.delete(id, by: .system, ports: ports) == .deleted)
        try await expectBoth(nil, nil)
    }
}
