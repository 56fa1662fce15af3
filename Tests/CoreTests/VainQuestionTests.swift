import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 8628 §3.5; CIBA Core 1.0 §10, §11; docs/protocol/signing-in.md.
@Suite("A phone is asked nothing whose yes gives the client nothing, once its way of signing in is switched off")
struct VainQuestionTests {
    private func state(_ asked: Authorization, _ world: World) async throws -> String? {
        let id = try #require(asked.ask?.challenge)
        return try await world.store.read { try $0.challenges.find(id)?.state.status.state }
    }

    /// A question of another door, and one that is about no sign-in.
    private func askedElsewhere(_ shop: SignInScene) async throws -> (page: Authorization, own: AskedChallenge) {
        try await shop.world.makeType()
        return (try await shop.asked(), try await shop.world.ask(try shop.world.request(for: shop.user), by: shop.shop))
    }

    @Test("The device grant", arguments: Engine.allCases)
    func deviceGrant(_ engine: Engine) async throws {
        let scene = try await DeviceGrantScene(engine)
        let world = scene.world
        let begun = try await scene.begin(hint: DeviceGrantScene.name)
        try await world.makeType()
        let own = try await world.ask(try world.request(for: scene.user), by: scene.shop.shop)
        #expect(try await state(try await scene.signIn(begun), world) == "pending")
        // Another way to find the person: what is asked gives tokens as before.
        try await scene.set(.byCode)
        #expect(try await state(try await scene.signIn(begun), world) == "pending")
        try await scene.set(.off)
        #expect(try await state(try await scene.signIn(begun), world) == "cancelled")
        #expect(try await scene.poll(begun) == .clientGone)
        #expect(try await world.challenge(own).state.status.state == "pending")
    }

    @Test("CIBA, or what its client would have been brought", arguments: Engine.allCases)
    func backchannel(_ engine: Engine) async throws {
        for later in [nil, RelyingParty.Backchannel.Delivery.poll] {
            let scene = try await BackchannelScene(engine, BackchannelScene.push)
            let world = scene.world
            let begun = try await scene.begin()
            let others = try await askedElsewhere(scene.shop)
            let late = try await scene.shop.begin(scene.request())
            try await scene.set(later)
            #expect(try await state(try await scene.signIn(begun), world) == "cancelled")
            try await scene.shop.put(try await scene.signIn(late))
            #expect(try await !scene.isPut(late))
            #expect(try await state(others.page, world) == "pending")
            #expect(try await world.challenge(others.own).state.status.state == "pending")
        }
        // What was to be fetched is brought instead.
        let scene = try await BackchannelScene(engine)
        let begun = try await scene.begin()
        try await scene.set(BackchannelScene.push)
        #expect(try await state(try await scene.signIn(begun), scene.world) == "pending")
    }

    @Test("The provider as a whole, also where the first call was cut off", arguments: Engine.allCases)
    func removed(_ engine: Engine) async throws {
        let scene = try await BackchannelScene(engine)
        let (world, client) = (scene.world, scene.client)
        let begun = try await scene.begin()
        let others = try await askedElsewhere(scene.shop)
        // As if the server had ended here.
        #expect(try await world.store.commit { try $0.relyingParties.delete(client) })
        #expect(try await RemoveRelyingParty.remove(client, by: .system, ports: world.ports) == .notFound)
        for asked in [try await scene.signIn(begun), others.page] {
            #expect(try await state(asked, world) == "cancelled")
        }
        #expect(try await world.challenge(others.own).state.status.state == "pending")
        #expect(try await scene.poll(begun) == .clientGone)

        let whole = try await BackchannelScene(engine)
        let asked = try await whole.begin()
        #expect(try await RemoveRelyingParty.remove(whole.client, by: .system, ports: whole.world.ports) == .removed)
        #expect(try await state(try await whole.signIn(asked), whole.world) == "cancelled")
    }
}
