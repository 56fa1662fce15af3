import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import StorageTestSupport
import TestSupport
import Testing

@Suite("Design 8, Callbacks: a receiver that hangs delays nobody else's", .timeLimit(.minutes(15)))
struct FairnessTests {
    /// How long another client's callback takes from being queued until it arrives.
    private static func delay(
        _ scene: DeliveryScene, to receiver: Receiver, at base: String, by client: ClientID
    ) async throws -> Duration {
        var arrivals = receiver.arrivals.makeAsyncIterator()
        let begin = ContinuousClock.now
        let id = try await scene.enqueue(to: base + "/hook", by: client)
        let call = try #require(await arrivals.next())
        #expect(call.fields["webhook-id"] == "\(id)")
        return ContinuousClock.now - begin
    }

    @Test("Under 200 callbacks to a tarpit another client's arrives within 2 seconds")
    func tarpit() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .silence },
                { tarpit, tarpitBase in
                    try await Receiver.with(
                        { _ in .status(200) },
                        { receiver, base in
                            let other = try await scene.world.makeClient("Other").client
                            for _ in 0..<200 { try await scene.enqueue(to: tarpitBase + "/hook") }
                            try await scene.working(scene.worker()) {
                                try await scene.until { tarpit.calls.count >= 64 }
                                let delay = try await Self.delay(scene, to: receiver, at: base, by: other.id)
                                #expect(delay < .seconds(2))
                                #expect(tarpit.calls.count == 64, "no more are on their way to one client")
                            }
                        })
                })
        }
    }

    @Test("Six clients that hang on all they are sent leave places to a seventh")
    func manyTarpits() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .silence },
                { tarpit, tarpitBase in
                    try await Receiver.with(
                        { _ in .status(200) },
                        { receiver, base in
                            for number in 0..<6 {
                                let client = try await scene.world.makeClient("Tarpit \(number)").client
                                // The same host by other names, too: what one client has on its way counts together.
                                let bases = [tarpitBase, tarpitBase.replacing("127.0.0.1", with: "localhost")]
                                for base in bases {
                                    for _ in 0..<40 { try await scene.enqueue(to: base + "/hook", by: client.id) }
                                }
                            }
                            try await scene.working(scene.worker()) {
                                try await scene.until { tarpit.calls.count >= 100 }
                                for _ in 0..<3 {
                                    let delay = try await Self.delay(
                                        scene, to: receiver, at: base, by: scene.shop.client.id)
                                    #expect(delay < .seconds(2))
                                }
                            }
                        })
                })
        }
    }

    @Test("A client's own callbacks to another host pass its receiver that hangs, once it is known to")
    func sameClient() async throws {
        try await DeliveryScene.with { scene in
            try await Receiver.with(
                { _ in .silence },
                { tarpit, tarpitBase in
                    try await Receiver.with(
                        { _ in .status(200) },
                        { receiver, base in
                            for _ in 0..<30 { try await scene.enqueue(to: tarpitBase + "/hook") }
                            try await scene.working(scene.worker()) {
                                try await scene.until { tarpit.calls.count == 30 }
                                let delay = try await Self.delay(
                                    scene, to: receiver, at: base, by: scene.shop.client.id)
                                #expect(delay < .seconds(2))
                            }
                        })
                })
        }
    }
}
