import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import Foundation
import StorageTestSupport
import TestSupport

/// Sends pushes to a separate process that enforces APNs' rules.
enum PushLoad {
    private static let challengesEach = 5
    private static let (team, keyID, app) = ("TEAM123456", "KEY1234567", "com.example.bank")

    static func measure(users: Int) async throws -> Outcome {
        let key = P256.Signing.PrivateKey()
        let peer = try await PushPeerProcess(
            "apns", key: Array(key.publicKey.pemRepresentation.utf8), [team, keyID, app])
        try await peer.beQuiet()
        let world = try await World()
        // The peer checks the ages of tokens by the system clock.
        world.time.set(Timestamp(seconds: Int64(Date().timeIntervalSince1970)))
        try await world.makeType(numberEntry: false)
        let client = try await world.makeClient().client
        guard let app = AppID(app) else { throw World.Broken("app") }
        let settings = APNsSettings(
            team: team, keyID: keyID, key: key, apps: [app], url: peer.url, authorities: peer.authorities)
        let http = PushSender.makeClient(authorities: settings.authorities)
        let delivery = Delivery(
            world: world, pushClient: http,
            pushes: PushSender(
                apns: APNsSender(settings, client: http, tokens: world.store, time: world.time)))
        var asked: [UserID] = []
        for number in 0..<users {
            let user = try await world.makeUser("customer-\(number)", of: client)
            let device = try await world.makeDevice(of: user, by: client)
            try await device.register(.apns(.production), token: Hex.encode(world.random.bytes(32)), app: "\(app)")
            for _ in 0..<challengesEach {
                _ = try await world.ask(try world.request(for: user), by: client)
            }
            asked.append(user)
        }
        let count = users * challengesEach
        let begin = nanoseconds()
        let (seconds, committed) = try await delivery.running {
            try await delivery.emptied()
            let seconds = Double(nanoseconds() - begin) / 1e9
            guard try await peer.noted().count == count else { throw World.Broken("pushes are missing") }
            var committed: [String: UInt64] = [:]
            for number in 0..<CallbackLoad.single.count {
                let challenge = try await world.ask(
                    try world.request(for: asked[number % asked.count]), by: client
                ).challenge.id
                committed["\(challenge)"] = nanoseconds()
                try await Task.sleep(for: .milliseconds(CallbackLoad.single.pause))
            }
            try await delivery.emptied()
            return (seconds, committed)
        }
        let came = try await peer.noted()
        try await delivery.shutdown()
        try await peer.end()
        guard came.count == committed.count else { throw World.Broken("\(came.count) pushes came one by one") }
        return Outcome(count: count, seconds: seconds, latencies: Outcome.latencies(committed, came))
    }
}
