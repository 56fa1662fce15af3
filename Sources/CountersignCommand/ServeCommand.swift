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
            """)

    @Option(help: "The folder that holds everything. (default: $COUNTERSIGN_DATA, else countersign-data)")
    var data: String?

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for a free one. (default: $COUNTERSIGN_PORT, else 8080)")
    var port: Int?

    @Option(help: "The public URL, such as https://login.example.com. (default: $COUNTERSIGN_ISSUER, else the address)")
    var issuer: String?

    @Flag(help: "Let callbacks go to private addresses, as where relying parties are in the server's own network.")
    var allowPrivateCallbacks = false

    @Flag(help: "With --json, show the bootstrap token when it was made now.")
    var printBootstrap = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let port { try Port.validate(port) }
    }

    mutating func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let data = data ?? environment["COUNTERSIGN_DATA"] ?? "countersign-data"
        var settings = ServerSettings(dataFolder: data, host: host, port: try port(from: environment))
        settings.allowsPrivateCallbacks = allowPrivateCallbacks
        if let text = issuer ?? environment["COUNTERSIGN_ISSUER"] {
            guard let issuer = Issuer(text) else {
                throw CommandError(
                    "--issuer must be https://HOST[:PORT] without a path, or http:// on a loopback host.", .usage)
            }
            settings.issuer = issuer
        }
        let server = try await Server(settings, environment: environment, logger: Self.logger)
        let announce = announcement(of: server)
        try await server.run {
            say(announce)
            try await gracefulShutdown()
        }
    }

    private func port(from environment: [String: String]) throws -> Int {
        if let port { return port }
        guard let text = environment["COUNTERSIGN_PORT"] else { return 8080 }
        guard let port = Int(text), Port.all.contains(port) else {
            throw CommandError("COUNTERSIGN_PORT must be a number from 0 to 65535, not \"\(text)\".", .usage)
        }
        return port
    }

    private func announcement(of server: Server) -> String {
        if output.json {
            let object = JSONValue.members([
                "issuer": .string("\(server.issuer)"), "data": .string(server.dataFolder),
                "bootstrap_token": printBootstrap ? server.bootstrapToken.map { .string($0.reveal()) } ?? .null : .null,
            ])
            return String(decoding: object.encoded, as: UTF8.self)
        }
        var lines = ["Countersign serves \(server.issuer)", "Data: \(server.dataFolder)"]
        if server.bootstrapToken != nil {
            lines.append("First start. The operator's token is in \(server.dataFolder)/bootstrap.token, for 24 hours:")
            lines.append("  export COUNTERSIGN_TOKEN=$(cat \(shellWord("\(server.dataFolder)/bootstrap.token")))")
            lines.append("Back up \(server.dataFolder)/master.key now, apart from the database.")
        }
        return lines.joined(separator: "\n")
    }

    /// Logs go to standard error, so that standard output stays for what was asked.
    static var logger: Logger {
        var logger = Logger(label: "countersign") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel =
            ProcessInfo.processInfo.environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) } ?? .warning
        return logger
    }
}

/// The command `countersign admin`.
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Things done on the server's own machine.", subcommands: [Bootstrap.self])

    struct Bootstrap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new bootstrap token; the earlier one stops working.")

        @Option(help: "The server's data folder.")
        var data = "countersign-data"

        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let (_, file) = try await Server.renewBootstrapToken(
                dataFolder: data, environment: ProcessInfo.processInfo.environment)
            output.print(["file": .string(file)], "The new token is in \(file), for 24 hours.")
        }
    }
}
