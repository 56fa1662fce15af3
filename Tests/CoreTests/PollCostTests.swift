import CountersignStorage
import CountersignWire
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("What a poll costs: it writes nothing")
struct PollCostTests {
    // Spec: RFC 8628 §3.5; CIBA Core 1.0 §11.
    @Test("A poll that finds nothing reads three rows in one transaction, and so does one that is too fast")
    func polls() async throws {
        let (world, recorder) = try await World.recorded()
        let shop = try await SignInScene(in: world, profile: .web)
        let party = RelyingParty(
            client: shop.shop.id, profile: .web, redirectURIs: [], deviceGrant: .byCode,
            backchannel: RelyingParty.Backchannel(delivery: .poll))
        #expect(try await SetRelyingParty.set(party, by: .system, ports: world.ports) == .set(party))
        try await world.store.refreshKeys()
        var request = BeginBackchannel.Request(by: shop.shop.id, for: .name("customer-1@example.com"))
        request.scopes = ["openid"]
        let asked = try await shop.begin(request)
        let device = BeginDeviceGrant.Request(by: shop.shop.id, isAuthenticated: true)
        guard case .begun(let shown) = try await BeginDeviceGrant.begin(device, ports: world.ports) else {
            throw World.Broken("device")
        }
        let ways: [RedeemDecision.Way] = [.authRequest(asked.authRequestID), .deviceCode(shown.deviceCode)]
        for way in ways {
            let polls: [(pause: Int64, outcome: RedeemDecision.Outcome)] = [
                (0, .pending(interval: 5)), (0, .slowDown(interval: 10)), (10, .pending(interval: 10)),
            ]
            for poll in polls {
                _ = recorder.takeCost()
                #expect(try await shop.poll(way, after: poll.pause) == poll.outcome)
                let cost = recorder.takeCost()
                #expect(cost.writes == 0 && cost.reads == 1 && cost.statements == 3, "\(cost)")
            }
        }
    }
}
