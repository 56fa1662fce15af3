import ArgumentParser
import CountersignServer
import CountersignWire
import Encodings
import Foundation
import Logging
import ServiceLifecycle

/// The command `countersign serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a server.",
        discussion: """
            Without any option it keeps its data in ./countersign-data and listens on http://127.0.0.1:8080, for this \
            machine alone. The first start makes the database, the master key (back it up!) and a bootstrap token, \
            which works from this machine for 24 hours; `countersign admin bootstrap` makes a new one.

            Every setting can also stand in a file or in the environment: see docs/reference/configuration.md, which \
            `countersign config reference` prints too.
            """)

    @OptionGroup var options: ServeOptions

    @Flag(help: "With --json, show the bootstrap token when it was made now.")
    var printBootstrap = false

    @OptionGroup var output: OutputOptions

    mutating func run() async throws {
        let configuration = try options.configuration()
        let server = try await Server(
            ServerSettings(configuration), environment: [:],
            logger: LineLog.logger(configuration[Settings.logFormat], configuration[Settings.logLevel]))
        let announce = announcement(of: server)
        try await server.run {
            say(announce)
            try await gracefulShutdown()
        }
    }

    private func announcement(of server: Server) -> String {
        if output.json {
            let object = JSONValue.members([
                "issuer": .string("\(server.issuer)"), "data": .string(server.dataFolder),
                "bootstrap_token": printBootstrap ? server.bootstrapToken.map { .string($0.reveal()) } ?? .null : .null,
            ])
            return ShownText.json(object)
        }
        var lines = ["Countersign serves \(server.issuer)", "Data: \(server.dataFolder)"]
        if server.bootstrapToken != nil {
            lines.append("First start. The operator's token is in \(server.dataFolder)/bootstrap.token, for 24 hours:")
            lines.append("  export COUNTERSIGN_TOKEN=$(cat \(shellWord("\(server.dataFolder)/bootstrap.token")))")
            lines.append("Back up \(server.dataFolder)/master.key now, apart from the database.")
        }
        return lines.joined(separator: "\n")
    }
}
