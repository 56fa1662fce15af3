import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@Suite("Announcing again, and sending again what was given up")
struct ResendTests {
    private struct Scene {
        let world: World
        let shop: Client
        let user: UserID
        let device: TestDevice
        let challenge: ChallengeID

        func resend() async throws -> ResendChallenge.Outcome {
            try await ResendChallenge.resend(challenge, by: shop.caller, ports: world.ports)
        }

        /// Leases what is due and notes what came of it.
        func conclude(as outcome: DeliveryOutcome) async throws -> [EventID] {
            let now = world.time.now
            let leased = try await world.store.lease(limit: 9, now: now, until: now.adding(seconds: 60))
            for message in leased { try await world.record(outcome, of: message.message, at: now) }
            return leased.map(\.message.id)
        }

        func push() async throws -> PushDelivery? {
            try await world.store.read { try $0.targets.deliveries(of: challenge) }.first?.push?.delivery
        }
    }

    private func scene(resends: Int = 3, isRegistered: Bool = true) async throws -> Scene {
        let world = try await World()
        try await world.makeType(maximumResends: resends)
        let shop = try await world.makeClient().client
        let user = try await world.makeUser(of: shop)
        let device = try await world.makeDevice(of: user, by: shop)
        if isRegistered { try await device.register(.fcm, token: "a:b") }
        let challenge = try await world.ask(try world.request(for: user), by: shop).challenge.id
        return Scene(world: world, shop: shop, user: user, device: device, challenge: challenge)
    }

    @Test("It is announced again, as often as the type allows; what is still on its way is left to it")
    func resends() async throws {
        let scene = try await scene(resends: 3)
        guard case .resent(let waiting) = try await scene.resend() else {
            Issue.record("not resent")
            return
        }
        #expect(waiting.deliveries.first?.push?.delivery == .queued(lastFailure: nil))
        #expect(try await scene.world.count("outbox") == 1)
        for count in 1...2 {
            _ = try await scene.conclude(as: .delivered)
            #expect(try await scene.push() == .accepted)
            guard case .resent(let shown) = try await scene.resend() else {
                Issue.record("not resent")
                return
            }
            #expect(shown.challenge.id == scene.challenge)
            #expect(shown.deliveries.first?.push?.delivery == .queued(lastFailure: nil))
            #expect(try await scene.world.count("outbox", where: "state = 'waiting'") == 1)
            #expect(try await scene.world.count("outbox") == count + 1)
        }
        guard case .tooMany = try await scene.resend() else {
            Issue.record("resent once more")
            return
        }
        #expect(try await scene.world.count("outbox") == 3)
    }

    @Test("At once it is announced again no more often than the type allows")
    func together() async throws {
        let scene = try await scene(resends: 2)
        _ = try await scene.conclude(as: .delivered)
        let outcomes = try await atOnce(8) { _ in try await scene.resend() }
        let resent = outcomes.count { if case .resent = $0 { true } else { false } }
        #expect(resent == 2)
        // The second one finds the first one's push on its way.
        #expect(try await scene.world.count("outbox", where: "state = 'waiting'") == 1)
    }

    @Test("One that has ended, and another client's, are not announced")
    func refused() async throws {
        let scene = try await scene()
        let other = try await scene.world.makeClient("Other").client
        guard
            case .notFound = try await ResendChallenge.resend(
                scene.challenge, by: other.caller, ports: scene.world.ports)
        else {
            Issue.record("another client's")
            return
        }
        _ = try await CancelChallenge.cancel(scene.challenge, by: scene.shop.caller, ports: scene.world.ports)
        guard case .alreadyEnded(let status) = try await scene.resend() else {
            Issue.record("it had ended")
            return
        }
        #expect(status.state == "cancelled")
        let late = try await self.scene()
        late.world.time.advance(seconds: 120)
        guard case .alreadyEnded(let expired) = try await late.resend() else {
            Issue.record("it was over")
            return
        }
        #expect(expired.state == "expired")
    }

    @Test(
        "A device that asks by itself gets no push; one that has registered since does, one that was removed does not")
    func devices() async throws {
        let scene = try await scene(isRegistered: false)
        guard case .resent = try await scene.resend() else {
            Issue.record("not resent")
            return
        }
        #expect(try await scene.world.count("outbox") == 0)
        try await scene.device.register(.fcm, token: "a:b")
        _ = try await scene.resend()
        #expect(try await scene.push() == .queued(lastFailure: nil))
    }

    @Test("What was given up is listed with the reason, and sent again: the challenge says so")
    func retries() async throws {
        let scene = try await scene()
        let ports = scene.world.ports
        func list(_ state: OutboxEntry.State) async throws -> [OutboxEntry] {
            guard case .entries(let entries) = try await ListOutbox.list(state, after: nil, limit: 10, ports: ports)
            else { return [] }
            return entries
        }
        #expect(try await list(.dead).isEmpty)
        #expect(try await list(.waiting).map(\.kind) == ["push"])
        let ids = try await scene.conclude(as: .abandoned("FCM answered 403 SENDER_ID_MISMATCH"))
        let dead = try await list(.dead)
        #expect(dead.map(\.id) == ids)
        #expect(dead.first?.lastError == "FCM answered 403 SENDER_ID_MISMATCH")
        #expect(dead.first?.attempts == 1)
        #expect(dead.first?.client == scene.shop.id)
        #expect(try await ListOutbox.list(.dead, after: ids.last, limit: 10, ports: ports) == .entries([]))
        let id = try #require(ids.first)
        #expect(try await RetryMessage.retry(id, by: scene.shop.actor, ports: ports) == .queued)
        #expect(try await scene.push() == .queued(lastFailure: "FCM answered 403 SENDER_ID_MISMATCH"))
        #expect(try await scene.world.store.nextDue() == scene.world.time.now)
        #expect(try await scene.conclude(as: .delivered) == ids)
        #expect(try await scene.push() == .accepted)
        #expect(try await RetryMessage.retry(id, by: scene.shop.actor, ports: ports) == .notFound)
    }

    @Test("What waits for its next time is sent now; what is over is not, and its content goes with the next sweep")
    func over() async throws {
        let scene = try await scene()
        let world = scene.world
        let now = world.time.now
        let ids = try await scene.conclude(as: .retried("slow", at: now.adding(seconds: 50)))
        let id = try #require(ids.first)
        #expect(try await RetryMessage.retry(id, by: scene.shop.actor, ports: world.ports) == .queued)
        #expect(try await world.store.nextDue() == now)
        _ = try await scene.conclude(as: .abandoned("slow"))
        world.time.advance(seconds: 121)
        #expect(try await RetryMessage.retry(id, by: scene.shop.actor, ports: world.ports) == .over)
        _ = try await world.store.commit { try $0.retention.sweep(now: now.adding(seconds: 121), limit: 10) }
        #expect(try await world.count("outbox", where: "payload IS NOT NULL") == 0)
        guard case .entries(let dead) = try await ListOutbox.list(.dead, after: nil, limit: 10, ports: world.ports)
        else {
            throw World.Broken("outbox")
        }
        #expect(dead.count == 1)
        let unknown: EventID = world.newID()
        #expect(try await RetryMessage.retry(unknown, by: scene.shop.actor, ports: world.ports) == .notFound)
    }
}
