import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import StorageTestSupport
import TestSupport
import Testing

@Suite("A receiver that hangs delays nobody else's", .timeLimit(.minutes(15)))
struct FairnessTests {
    /// Somebody who answers nothing, and somebody who answers at once.
    private struct Receivers {
        let tarpit: Receiver
        let tarpitBase: String
        let receiver: Receiver
        let base: String

        /// How long a callback of a client to who answers takes from being queued until it arrives.
        func delay(by client: ClientID, in scene: DeliveryScene) async throws -> Duration {
            var arrivals = receiver.arrivals.makeAsyncIterator()
            let begin = ContinuousClock.now
            let id = try await scene.enqueue(to: base + "/hook", by: client)
            let call = try #require(await arrivals.next())
            #expect(call.fields["webhook-id"] == "\(id)")
            return ContinuousClock.now - begin
        }
    }

    private static func with(_ body: (DeliveryScene, Receivers) async throws -> Void) async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .silence },
                { tarpit, tarpitBase in
                    try await Receiver.with(
                        { _ in .status(200) },
                        { receiver, base in
                            try await body(
                                scene,
                                Receivers(tarpit: tarpit, tarpitBase: tarpitBase, receiver: receiver, base: base))
                        })
                })
        }
    }

    /// Well before the attempts that hang end by their timeout, also on a loaded machine.
    private static let soon = Duration.seconds(10)

    @Test("Under 200 callbacks to a tarpit another client's arrives within 2 seconds")
    func tarpit() async throws {
        try await Self.with { scene, receivers in
            let other = try await scene.world.makeClient("Other").client
            for _ in 0..<200 { try await scene.enqueue(to: receivers.tarpitBase + "/hook") }
            try await scene.working(scene.worker()) {
                try await scene.until { receivers.tarpit.calls.count >= 64 }
                // A machine that is busy with other things may keep one of them, but not all three.
                var quickest = Duration.seconds(60)
                for _ in 0..<3 { quickest = min(quickest, try await receivers.delay(by: other.id, in: scene)) }
                #expect(quickest < .seconds(2))
                #expect(receivers.tarpit.calls.count == 64, "no more are on their way to one client")
            }
        }
    }

    @Test("Six clients that hang on all they are sent leave places to a seventh")
    func manyTarpits() async throws {
        try await Self.with { scene, receivers in
            for number in 0..<6 {
                let client = try await scene.world.makeClient("Tarpit \(number)").client
                // The same host by other names, too: what one client has on its way counts together.
                for host in ["127.0.0.1", "localhost"] {
                    let base = receivers.tarpitBase.replacing("127.0.0.1", with: host)
                    for _ in 0..<40 { try await scene.enqueue(to: base + "/hook", by: client.id) }
                }
            }
            try await scene.working(scene.worker()) {
                try await scene.until { receivers.tarpit.calls.count >= 100 }
                for _ in 0..<3 {
                    #expect(try await receivers.delay(by: scene.shop.client.id, in: scene) < Self.soon)
                }
            }
        }
    }

    @Test("A client's own callbacks to another host pass its receiver that hangs, once it is known to")
    func sameClient() async throws {
        try await Self.with { scene, receivers in
            for _ in 0..<30 { try await scene.enqueue(to: receivers.tarpitBase + "/hook") }
            try await scene.working(scene.worker()) {
                try await scene.until { receivers.tarpit.calls.count == 30 }
                #expect(try await receivers.delay(by: scene.shop.client.id, in: scene) < Self.soon)
            }
        }
    }
}
