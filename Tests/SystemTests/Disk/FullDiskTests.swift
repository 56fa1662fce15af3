#if os(Linux)
    import AsyncHTTPClient
    import Encodings
    import Foundation
    import NIOHTTP1
    import ServerTestSupport
    import TestSupport
    import Testing

    /// The real program on a small file system that is full for a while, again and again.
    @Suite("A full disk refuses changes, goes on with reads, and loses nothing", .serialized)
    struct FullDiskTests {
        private static let rounds = 4

        @Test(
            "Portals and phones go on when there is room again; a server that is killed starts on a full disk",
            .enabled(if: getuid() == 0, "only root may mount a small file system"))
        func full() async throws {
            let settings = KillSettings(environment: [
                "COUNTERSIGN_SEED": ProcessInfo.processInfo.environment["COUNTERSIGN_SEED"] ?? "1"
            ])
            try await Self.onSmallDisk(receiver: .init(random: SeededGenerator(seed: settings.seed))) { keeper, scene in
                try await scene.play(settings) {
                    for round in 0..<Self.rounds {
                        try await Task.sleep(for: .seconds(1))
                        try await Self.fill(keeper, scene, isKilled: !round.isMultiple(of: 2))
                    }
                }
                let database = try DatabaseFile(data: keeper.data)
                try await scene.settle { try database.outbox($0) }
                try await keeper.kill()
                try await keeper.start()
                try await Inspector(caller: scene.caller).inspectAll()
                print("full disk: \(Self.rounds) times, \(await scene.ledger.asked.count) challenges asked and ended")
                await scene.verify(settings)
                #expect(try await keeper.leaks.map(\.description) == [])
                try await keeper.stop()
                #expect(try database.faults() == [])
            }
        }

        @Test(
            "A server that is killed while it sends a callback starts on a full disk",
            .enabled(if: getuid() == 0, "only root may mount a small file system"))
        func leased() async throws {
            let receiver = CallbackReceiver(random: SeededGenerator(seed: 1), silentFor: .max)
            try await Self.onSmallDisk(receiver: receiver) { keeper, scene in
                let portal = try #require(scene.portals.first)
                let asked = try await portal.ask("1", planned: .cancel)
                _ = try await scene.caller.call(
                    .DELETE, "/v1/challenges/\(asked.id)", authorization: portal.shop.authorization)
                await receiver.arrivals(1).wait()
                try await Self.fill(keeper, scene, isKilled: true)
                let reply = try await scene.caller.call(
                    .GET, "/v1/challenges/\(asked.id)", authorization: portal.shop.authorization)
                #expect(reply.json["state"] == "cancelled", "\(reply)")
            }
        }

        /// Runs a server whose data folder is a small file system.
        private static func onSmallDisk(
            receiver: CallbackReceiver, _ body: (ServerKeeper, Scene) async throws -> Void
        ) async throws {
            let folder = try TemporaryFolder()
            let keeper = try ServerKeeper(folder: folder, port: FreePort.next(), mayBeUnavailable: true)
            try FileManager.default.createDirectory(atPath: keeper.data, withIntermediateDirectories: true)
            try await run("mount", ["-t", "tmpfs", "-o", "size=48m,mode=0700", "tmpfs", keeper.data])
            let http = PersistentCaller.makeClient()
            let result = await Result {
                try await receiver.listening { port in
                    try await keeper.start()
                    let scene = try await Scene(
                        keeper: keeper, data: keeper.data, http: http, receiver: receiver, port: port, folder: folder,
                        texts: ["\(keeper.data)/outbox"])
                    try await body(keeper, scene)
                }
            }
            if case .failure = result { print("the server's last words: \(await keeper.lastWords)") }
            try? await keeper.kill()
            try await run("umount", ["-l", keeper.data])
            try await http.shutdown()
            try result.get()
        }

        /// Fills the disk, and makes room again when changes were refused.
        private static func fill(_ keeper: ServerKeeper, _ scene: Scene, isKilled: Bool) async throws {
            let filler = "\(keeper.data)/filler"
            // `dd` ends with an error when the disk is full.
            _ = try await RunningProgram.run("/bin/dd", ["if=/dev/zero", "of=\(filler)", "bs=4096"])
            if isKilled {
                try await keeper.kill()
                try await keeper.start()
            }
            var refused = 0
            // The files of the database have some room of their own, which others may make again.
            for _ in 0..<1000 where refused < 20 {
                refused += try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<20 { group.addTask { try await isRefused(scene) } }
                    return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
                }
            }
            #expect(refused >= 20)
            try FileManager.default.removeItem(atPath: filler)
        }

        /// Whether the server refuses to make a user, which it must do well: with a reason, and without refusing reads.
        private static func isRefused(_ scene: Scene) async throws -> Bool {
            let fields = [("Authorization", scene.portals[0].shop.authorization)]
            let reply = try await scene.caller.send(
                .POST, "/v1/users", JSONValue.members([:]).encoded, fields: fields)
            guard reply.status == 503 else { return false }
            #expect(reply.code == "unavailable")
            #expect(reply.json["detail"] == "there is no room on the database's disk", "\(reply)")
            let read = try await scene.caller.send(
                .GET, "/v1/users/\(scene.portals[0].users[0])", nil, fields: fields)
            #expect(read.status == 200, "\(read)")
            return true
        }

        private static func run(_ program: String, _ arguments: [String]) async throws {
            let result = try await RunningProgram.run(try #require(Program.path(of: program)), arguments)
            try #require(result.status == 0, "\(program): \(result.errors)")
        }
    }
#endif
