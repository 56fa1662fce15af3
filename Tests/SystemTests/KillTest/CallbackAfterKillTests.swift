import AsyncHTTPClient
import NIOHTTP1
import ServerTestSupport
import Testing
import TestSupport

/// A callback that was being sent when the server was killed is sent again.
@Suite("A callback under way when the server is killed")
struct CallbackAfterKillTests {
    @Test("It is sent again right after the next start, not when its lease has run out", .timeLimit(.minutes(5)))
    func sentAgain() async throws {
        let folder = try TemporaryFolder()
        let keeper = try ServerKeeper(folder: folder, port: FreePort.next())
        let http = PersistentCaller.makeClient()
        let receiver = CallbackReceiver(random: SeededGenerator(seed: 1), silentFor: 1)
        let result = await Result {
            try await receiver.listening { port in
                try await keeper.start()
                let scene = try await Scene(
                    keeper: keeper, data: keeper.data, http: http, receiver: receiver, port: port, folder: folder)
                let portal = try #require(scene.portals.first)
                let asked = try await portal.ask("1", planned: .cancel)
                _ = try await scene.caller.call(
                    .DELETE, "/v1/challenges/\(asked.id)", authorization: portal.shop.authorization)
                await receiver.arrivals(1).wait()
                try await keeper.kill()
                let begin = ContinuousClock.now
                try await keeper.start()
                await receiver.arrivals(2).wait()
                #expect(ContinuousClock.now - begin < .seconds(20), "a lease lasts a minute")
                #expect(receiver.callbacks[asked.id]?.count == 1)
            }
        }
        try? await keeper.kill()
        try await http.shutdown()
        try result.get()
    }
}
