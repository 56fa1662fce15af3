import AsyncHTTPClient
import Foundation
import ServerTestSupport
import Testing
import TestSupport

/// The real program on a real disk, killed by SIGKILL at random moments: it keeps everything that it has acknowledged.
@Suite("Killed at any moment, the server loses nothing it acknowledged")
struct KillTests {
    @Test("No acknowledged challenge, answer, user, ticket, enrollment or callback is lost or doubled")
    func kill() async throws {
        let settings = KillSettings()
        print("kill test: COUNTERSIGN_SEED=\(settings.seed)\(settings.shortened.map { ", \($0)" } ?? "")")
        let folder = try TemporaryFolder()
        let keeper = try ServerKeeper(folder: folder, port: FreePort.next())
        let http = PersistentCaller.makeClient()
        do {
            try await run(settings, keeper, folder) { receiver, port in
                try await Scene(
                    keeper: keeper, data: keeper.data, http: http, receiver: receiver, port: port, folder: folder,
                    texts: ["\(keeper.data)/outbox"])
            }
        } catch {
            Issue.record(
                "COUNTERSIGN_SEED=\(settings.seed): \(error); the server's last words: \(await keeper.lastWords)")
        }
        try? await keeper.kill()
        try await http.shutdown()
    }

    private func run(
        _ settings: KillSettings, _ keeper: ServerKeeper, _ folder: TemporaryFolder,
        _ makeScene: (CallbackReceiver, Int) async throws -> Scene
    ) async throws {
        let receiver = CallbackReceiver(random: SeededGenerator(seed: settings.seed, of: 1000))
        try await receiver.listening { port in
            try await keeper.start()
            let scene = try await makeScene(receiver, port)
            try await scene.play(settings) { try await killAgainAndAgain(keeper, settings) }
            let kills = await keeper.kills
            let database = try DatabaseFile(data: keeper.data)
            try await scene.settle { try database.outbox($0) }
            // The server restarts once more, so that everything is read from the disk.
            try await keeper.kill()
            try await keeper.start()
            try await Inspector(caller: scene.caller).inspectAll()
            await report(scene, keeper, kills)
            await scene.verify(settings)
            #expect(try await keeper.leaks.map(\.description) == [])
            // Kills of an idle server prove little, and a few kills say nothing about their share.
            let hits = keeper.flights.hits(among: kills)
            #expect(kills < 20 || hits * 2 >= kills, "\(hits) of \(kills) kills cut a request off")
            try await keeper.stop()
            #expect(try database.faults() == [])
        }
    }

    private func killAgainAndAgain(_ keeper: ServerKeeper, _ settings: KillSettings) async throws {
        var random = SeededGenerator(seed: settings.seed, of: 0)
        let end = ContinuousClock.now + .seconds(settings.seconds)
        while await keeper.kills < settings.maximumKills {
            let next = ContinuousClock.now + .seconds(Double.random(in: 0.2...3, using: &random))
            guard next < end else { break }
            // The moment is random, so there is nothing to wait for.
            try await Task.sleep(until: next)
            try await keeper.kill()
            try await keeper.start()
        }
    }

    private func approvals(_ ledger: Ledger) async -> String {
        let ends = await ledger.ends
        let plans = await ledger.asked.values.filter { ends[$0.id] == .approved }.map { "\($0.plan)" }
        return Dictionary(grouping: plans) { $0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.count)" }
            .joined(separator: ", ")
    }

    private func report(_ scene: Scene, _ keeper: ServerKeeper, _ kills: Int) async {
        let hits = keeper.flights.hits(among: kills)
        let ledger = scene.ledger
        let starts = await keeper.startTimes.sorted()
        let longest = keeper.flights.longest.sorted { $0.key < $1.key }
            .map { "\($0.key.sender)\($0.key.waits ? " that waits" : "") \($0.value)" }.joined(separator: ", ")
        let ends = await Dictionary(grouping: ledger.ends.values, by: \.state).mapValues(\.count)
        print(
            """
            kill test: \(kills) kills, \(hits) of them with a request sent and unanswered
            kill test: \(await ledger.asked.count) asked, \
            \(await ledger.answers) answers acknowledged, \(await ledger.returns) came back from a link \
            (\(await ledger.lostReturns) codes lost on the way), \(await ledger.users.count) users, \
            \(await ledger.tickets.count) tickets, \(await ledger.enrolled.count) enrolled, \
            \(await ledger.removed.count) removed, \(await ledger.letIn) let in by an earlier one, \
            \(await ledger.wrongPINs) wrong PINs told
            kill test: approved, by plan: \(await approvals(ledger))
            kill test: ends \(ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
            kill test: callbacks \(scene.receiver.callbacks.values.reduce(0) { $0 + $1.count }) distinct / \
            \(scene.receiver.total) in total
            kill test: longest requests \(longest)
            kill test: ready after p50 \(starts[starts.count / 2]), at most \(starts[starts.count - 1])
            """)
    }
}
