#if os(Linux)
    import AsyncHTTPClient
    import BenchmarkSupport
    import Encodings
    import Foundation
    import NIOHTTP1
    import ServerTestSupport
    import TestSupport
    import Testing

    /// The real program on a disk whose every sync takes a tenth of a second longer.
    @Suite("A slow disk slows the server, and corrupts and piles up nothing")
    struct SlowDiskTests {
        /// How much longer a sync takes, in milliseconds.
        private static let delay = 100
        /// How many users are made at once.
        private static let burst = 200

        @Test("Portals and phones work as ever, and what is asked at once shares syncs")
        func slow() async throws {
            let settings = KillSettings(environment: [
                "COUNTERSIGN_SEED": ProcessInfo.processInfo.environment["COUNTERSIGN_SEED"] ?? "1",
                "COUNTERSIGN_KILL_SECONDS": "10",
            ])
            let folder = try TemporaryFolder()
            let keeper = try ServerKeeper(
                folder: folder, port: FreePort.next(),
                environment: ["LD_PRELOAD": try await Self.shim(in: folder), "SLOW_SYNC": "\(Self.delay)"])
            let http = PersistentCaller.makeClient()
            let receiver = CallbackReceiver(random: SeededGenerator(seed: settings.seed))
            let result = await Result {
                try await receiver.listening { port in
                    try await keeper.start()
                    let scene = try await Scene(
                        keeper: keeper, data: keeper.data, http: http, receiver: receiver, port: port, folder: folder,
                        texts: ["\(keeper.data)/outbox"])
                    try await scene.play(settings) { try await Task.sleep(for: .seconds(settings.seconds)) }
                    let database = try DatabaseFile(data: keeper.data)
                    try await scene.settle { try database.outbox($0) }
                    var alone: [Duration] = []
                    for _ in 0..<5 { alone.append(try await Self.makeUser(in: scene)) }
                    // Otherwise the library was not loaded, and what follows would prove nothing.
                    #expect(alone.allSatisfy { $0 >= .milliseconds(Self.delay) }, "\(alone)")
                    let process = MeasuredProcess(id: try #require(await keeper.processID))
                    let memory = process.residentMemory
                    let times = try await Self.burst(to: scene)
                    print(
                        "slow disk: \(await scene.ledger.asked.count) challenges asked in \(settings.seconds) s and "
                            + "ended; \(Self.burst) at once took \(times.min() ?? .zero) to \(times.max() ?? .zero); "
                            + "memory \(memory / 1_000_000) MB before and \(process.residentMemory / 1_000_000) after")
                    // One after the other, they would take 20 seconds.
                    #expect(times.allSatisfy { $0 < .milliseconds(Self.delay * 30) })
                    #expect(process.residentMemory < memory + 64_000_000)
                    await scene.verify(settings)
                    try await keeper.stop()
                    #expect(try database.faults() == [])
                }
            }
            if case .failure = result { print("the server's last words: \(await keeper.lastWords)") }
            try? await keeper.kill()
            try await http.shutdown()
            try result.get()
        }

        /// Compiles the library that slows each sync.
        private static func shim(in folder: TemporaryFolder) async throws -> String {
            let compiler = try #require(Program.path(of: "cc") ?? Program.path(of: "clang"), "there is no C compiler")
            let source = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../SlowDisk/slow_sync.c").standardized.path
            let library = folder.path("slow_sync.so")
            let made = try await RunningProgram.run(
                compiler, ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
            try #require(made.status == 0, "\(made.errors)")
            return library
        }

        /// Makes a user; returns how long that took.
        private static func makeUser(in scene: Scene) async throws -> Duration {
            let begin = ContinuousClock.now
            _ = try await scene.caller.call(
                .POST, "/v1/users", JSONValue.members([:]).encoded, authorization: scene.portals[0].shop.authorization
            ).success()
            return ContinuousClock.now - begin
        }

        /// Makes users, all at once.
        private static func burst(to scene: Scene) async throws -> [Duration] {
            try await withThrowingTaskGroup(of: Duration.self) { group in
                for _ in 0..<burst { group.addTask { try await makeUser(in: scene) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
    }
#endif
