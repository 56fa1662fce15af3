import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Encodings
import Foundation
import StorageTestSupport
import TestSupport
import Testing

/// A phone that is reached by push.
struct PushScene: Sendable {
    var delivery: DeliveryScene
    let user: UserID
    let device: TestDevice

    /// Runs something in a scene of its own; no log may hold the token.
    ///
    /// - Parameters:
    ///   - authorities: the file of the certificates that the service shows.
    ///   - token: what the service calls the phone.
    ///   - pushes: makes the sender.
    ///   - body: is given the scene; the phone is not yet registered.
    static func with(
        authorities: String?, token: String, pushes: (HTTPClient, World) throws -> PushSender,
        _ body: (PushScene) async throws -> Void
    ) async throws {
        try await DeliveryScene.with { delivery in
            let world = delivery.world
            // The peer judges ages by the machine's clock.
            world.time.set(Timestamp(seconds: Int64(Date().timeIntervalSince1970)))
            try await world.makeType(numberEntry: false)
            let user = try await world.makeUser(of: delivery.shop.client)
            let device = try await world.makeDevice(of: user, by: delivery.shop.client)
            let http = PushSender.makeClient(authorities: authorities)
            var scene = PushScene(delivery: delivery, user: user, device: device)
            do {
                scene.delivery.pushes = try pushes(http, world)
                try await body(scene)
            } catch {
                try await shutDown(http)
                throw error
            }
            try await shutDown(http)
            let search = SecretSearch([SecretForms("a push token", text: token)])
            #expect(search.names(in: scene.delivery.logs.entries.joined(separator: "\n")).isEmpty)
        }
    }

    /// Shuts a client down; fails if a connection stays open.
    private static func shutDown(_ http: HTTPClient) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let shutdown = Task {
            try await http.shutdown()
            end.yield(true)
        }
        let limit = Task {
            try await Task.sleep(for: .seconds(20))
            end.yield(false)
        }
        defer { limit.cancel() }
        guard await ends.first(where: { _ in true }) == true else {
            throw World.Broken("a connection to the push service stays open")
        }
        try await shutdown.value
    }

    var world: World { delivery.world }

    /// Asks the user something, to be announced.
    func ask() async throws -> Challenge {
        try await world.challenge(try await world.ask(try world.request(for: user), by: delivery.shop.client))
    }

    /// Has a worker deliver what is due.
    func deliver() async throws {
        try await delivery.worker().deliverDue()
    }

    /// How far the push has come.
    func status(of challenge: Challenge) async throws -> PushDelivery? {
        try await world.store.read { try $0.targets.deliveries(of: challenge.id) }.first?.push?.delivery
    }

    /// Whether the phone is still reached by push.
    var isRegistered: Bool {
        get async throws { try await world.store.read { try $0.pushes.find(of: device.enrollment) } != nil }
    }
}
