import ArgumentParser
import BenchmarkSupport
import StorageTestSupport

/// Measures the outbox: its throughput, the time from commit to arrival, and the memory for waiting messages.
///
/// Spec: docs/decisions/0041-outbox-in-batches.md.
@main
struct CountersignOutbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign-outbox", abstract: "Measure callbacks and pushes through the outbox.",
        discussion: """
            Queues messages durably, has them delivered by the server's own worker in this process, and takes them in \
            processes of their own on the same machine: a receiver of callbacks, and PushPeer, which keeps APNs' rules \
            over HTTP/2 and TLS. On PostgreSQL when COUNTERSIGN_TEST_POSTGRES says where it is, as \
            scripts/with-postgres does, otherwise on SQLite.
            """,
        subcommands: [Measure.self, Receive.self], defaultSubcommand: Measure.self)

    /// The target, in messages a second.
    static let aim = 2000.0

    struct Measure: AsyncParsableCommand {
        @Option(help: "How many callbacks.")
        var callbacks = 10_000

        @Option(help: "How many users are asked; each five times, which is as many pushes.")
        var users = 1000

        @Option(help: "How many messages wait while memory is measured.")
        var waiting = 100_000

        mutating func validate() throws {
            guard callbacks >= 100, users >= 20, waiting >= 100 else {
                throw ValidationError("There must be 100 callbacks or more, 20 users or more, and 100 waiting or more.")
            }
        }

        mutating func run() async throws {
            print("\(Engine.chosen), \(buildConfiguration) build; receivers on the same machine")
            let callbacks = try await CallbackLoad.measure(callbacks)
            print("callbacks: \(callbacks.text)")
            let pushes = try await PushLoad.measure(users: users)
            print("pushes:    \(pushes.text)")
            print(try await QueueMemory.measure(waiting))
            let slowest = min(callbacks.rate, pushes.rate)
            let reachesAim = slowest >= CountersignOutbox.aim
            print("The aim, 2000/s, is \(reachesAim ? "reached" : "NOT reached").")
            if !reachesAim { throw ExitCode(missedAim) }
        }
    }

    /// Receives callbacks, in a separate process.
    struct Receive: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take callbacks, and tell at the end of the input when each came.", shouldDisplay: false)

        mutating func run() async throws { try await CallbackReceiver.run() }
    }
}
