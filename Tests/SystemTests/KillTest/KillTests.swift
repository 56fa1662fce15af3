import AsyncHTTPClient
import Encodings
import Foundation
import ServerTestSupport
import Testing
import TestSupport

/// The real program on a real disk, ended by SIGKILL at any moment: what it acknowledged, it kept.
@Suite("Killed at any moment, the server loses nothing it acknowledged")
struct KillTests {
    /// How long callbacks may take to arrive at the end, and the outbox to be empty.
    private static let patience = Duration.seconds(120)

    @Test("Design 7: no acknowledged challenge, answer, user, ticket, enrollment or callback is lost or doubled")
    func kill() async throws {
        let settings = KillSettings()
        print("kill test: COUNTERSIGN_SEED=\(settings.seed)\(settings.shortened.map { ", \($0)" } ?? "")")
        let folder = try TemporaryFolder()
        let keeper = try ServerKeeper(folder: folder, port: FreePort.next())
        let http = PersistentCaller.makeClient()
        do {
            try await run(settings, keeper, folder) { receiver, port in
                try await Scene(keeper: keeper, http: http, receiver: receiver, port: port, folder: folder)
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
            try await scene.play(settings)
            let kills = await keeper.kills
            try await settle(scene)
            // Once more, so that everything is read from the disk.
            try await keeper.kill()
            try await keeper.start()
            try await Inspector(caller: scene.caller).inspectAll()
            await report(scene, settings, kills)
            try await verify(scene, settings)
            // Kills of an idle server prove little. A handful of kills says nothing about their share.
            let hits = keeper.flights.hits(among: kills)
            #expect(kills < 20 || hits * 2 >= kills, "\(hits) of \(kills) kills cut a request off")
            try await keeper.stop()
            #expect(try DatabaseFile(data: keeper.data).faults() == [])
        }
    }

    /// Waits until every callback has arrived and the outbox is empty.
    private func settle(_ scene: Scene) async throws {
        let arrival = scene.receiver.arrival(of: await scene.ledger.asked.keys)
        let database = try DatabaseFile(data: scene.keeper.data)
        let isSettled = try await withThrowingTaskGroup { group in
            group.addTask {
                await arrival.wait()
                // Nobody tells of the outbox from outside; it is looked at.
                while try database.outbox("waiting") > 0 { try await Task.sleep(for: .milliseconds(50)) }
                return true
            }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                // Lets the other task end, which waits for this whether or not it is cancelled.
                arrival.happen()
                return false
            }
            let first = try await group.next() ?? false
            group.cancelAll()
            return first
        }
        #expect(isSettled, "no callback for \(scene.receiver.missing.sorted())")
        #expect(try database.outbox("dead") == 0)
    }

    private func verify(_ scene: Scene, _ settings: KillSettings) async throws {
        let ledger = scene.ledger
        let asked = await ledger.asked
        let ends = await ledger.ends
        #expect(await ledger.violations == [], "COUNTERSIGN_SEED=\(settings.seed)")
        #expect(scene.receiver.violations == [])
        #expect(try await scene.keeper.leaks.map(\.description) == [])
        #expect(!asked.isEmpty)
        #expect(await ledger.answers > 0)
        #expect(Set(ends.keys) == Set(asked.keys), "every challenge has ended, and none that nobody asked")
        let callbacks = scene.receiver.callbacks
        #expect(Set(callbacks.keys) == Set(asked.keys), "every end has a callback, and none is made up")
        var ids: Set<String> = []
        for (challenge, distinct) in callbacks {
            #expect(distinct.count == 1, "one id and one body for \(challenge): \(distinct.map(\.id))")
            for callback in distinct {
                #expect(ids.insert(callback.id).inserted, "\(callback.id) is the id of two callbacks")
                #expect(callback.standing == ends[challenge], "\(challenge): \(callback)")
            }
        }
    }

    private func report(_ scene: Scene, _ settings: KillSettings, _ kills: Int) async {
        let hits = scene.keeper.flights.hits(among: kills)
        let ledger = scene.ledger
        let starts = await scene.keeper.startTimes.sorted()
        let ends = await Dictionary(grouping: ledger.ends.values, by: \.state).mapValues(\.count)
        print(
            """
            kill test: seed \(settings.seed), \(kills) kills, \(hits) of them with a request sent and unanswered
            kill test: \(await ledger.asked.count) asked, \
            \(await ledger.answers) answers acknowledged, \(await ledger.users.count) users, \
            \(await ledger.tickets.count) tickets, \(await ledger.enrolled.count) enrolled, \
            \(await ledger.removed.count) removed
            kill test: ends \(ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
            kill test: callbacks \(scene.receiver.callbacks.values.reduce(0) { $0 + $1.count }) distinct / \
            \(scene.receiver.total) in total
            kill test: ready after p50 \(starts[starts.count / 2]), at most \(starts[starts.count - 1])
            """)
    }
}

extension CallbackReceiver.Callback {
    /// How it says the challenge ended.
    fileprivate var standing: Standing? {
        guard let challenge = try? JSONValue(parsing: body)["challenge"], let state = challenge["state"]?.string else {
            return nil
        }
        return Standing(state: state, reason: challenge["reason"]?.string)
    }
}
