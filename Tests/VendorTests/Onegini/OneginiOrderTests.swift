import Countersign
import CountersignWire
import Foundation
import ServerTestSupport
import Synchronization
import Testing

@testable import OneginiSDKiOS

/// The server's clock as the device's, which does something once when it is looked at.
private final class TappedClock: DeviceClock {
    typealias Act = @Sendable () -> Void

    private let server: TestClock
    private let act = Mutex<Act?>(nil)

    init(_ server: TestClock) {
        self.server = server
    }

    /// Does something at the next look.
    func onLook(_ act: @escaping Act) {
        self.act.withLock { $0 = act }
    }

    var millisecondsSince1970: Int64 {
        let due = act.withLock { act -> Act? in
            defer { act = nil }
            return act
        }
        due?()
        return server.now.milliseconds
    }
}

@Suite("OneWelcome's calls: calls that meet, and an app that ends in the middle of one", .timeLimit(.minutes(15)))
@MainActor
struct OneginiOrderTests {
    @Test("A token that turns out to be over logs nobody out who has logged in meanwhile")
    func loggedInMeanwhile() async throws {
        try await OneginiWorld.with { world in
            let clock = TappedClock(world.server.clock)
            let client = world.builder().setClock(clock).buildAlone()
            #expect(await OneginiTold.by { client.start(completion: $0) } == "")
            let app = try #require(client.userClient as? TranslatedUserClient)
            try await world.register(app)
            let id = try #require(app.authenticated)
            world.server.clock.advance(seconds: 3600)
            let next = try await app.phone().session(id, ["openid"], by: .confirmation)
            let url = try #require(URL(string: "https://api.example.com/orders"))
            clock.onLook { app.standing.with { $0.session = next } }
            let failure = await #expect(throws: (any Error).self) {
                _ = try await app.headerFields(for: "GET", url)
            }
            #expect(OneginiTold.number(failure) == "authentication 9010")
            #expect(app.authenticated == id && app.accessToken == next.token.reveal())
        }
    }

    @Test("A registration that the app's end has cut off leaves nothing: at the next start or, offline, later")
    func interrupted() async throws {
        try await OneginiWorld.with { world in
            let issuer = try #require(URL(string: "\(world.server.issuer)"))
            // The app ends before a PIN is chosen.
            @MainActor func begin() async throws {
                let sdk = try await Countersign.Authenticator(
                    issuer: issuer, app: AppDescription(name: "Acme", version: "3.1", deviceName: "Phone"),
                    vault: world.vault)
                _ = try await sdk.enroll(with: .ticket(try await world.shop.makeTicket(for: world.user)))
            }
            try await begin()
            #expect(try await world.deviceCount() == 1)
            let next = try await world.launched()
            #expect(next.userProfiles.isEmpty)
            #expect(try await world.deviceCount() == 0)
            try await begin()
            world.network.fail()
            let offline = try await world.launched()
            #expect(offline.userProfiles.isEmpty)
            #expect(try await world.deviceCount() == 1)
            world.network.fail(false)
            try await world.register(offline)
            #expect(offline.userProfiles.count == 1)
            #expect(try await world.deviceCount() == 1)
        }
    }
}
