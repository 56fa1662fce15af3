import ArgumentParser
import CountersignServer
import Encodings

/// The command `countersign admin`.
struct AdminCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "What operators do.",
        discussion:
            "All but `events`, `outbox`, `locks`, `enrollment`, `passkey`, `address`, `user-code`, `issuer-key` and `test-message` is done on the server's own machine, while the server runs or not.",
        subcommands: [
            Bootstrap.self, KeyCommand.self, BackupCommand.self, MigrateCommand.self, DoctorCommand.self,
            EventsCommand.self, OutboxCommand.self, LocksCommand.self, EnrollmentCommand.self, PasskeyCommand.self,
            AddressCommand.self, UserCodeCommand.self, IssuerKeyCommand.self, TestMessageCommand.self,
        ])

    struct Bootstrap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new bootstrap token; the earlier one stops working.")

        @OptionGroup var options: ServerOptions

        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let (_, file) = try await Server.renewBootstrapToken(
                ServerSettings(try options.configuration()), environment: [:])
            output.print(["file": .string(file)], "The new token is in \(file), for 24 hours.")
        }
    }
}

/// The command `countersign admin migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Bring the database to this program's schema.",
        discussion: "`serve` does it by itself unless migrate is false. Make a backup first.")

    @OptionGroup var options: ServerOptions

    @OptionGroup var output: OutputOptions

    mutating func run() async throws {
        let settings = ServerSettings(try options.configuration())
        let schema = try await ProgressLine.during("Bringing the schema to the newest") {
            try await Administration.migrate(settings)
        }
        output.print(["schema": .integer(Int64(schema))], "The database has schema \(schema).")
    }
}

/// The command `countersign admin doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look at everything a server needs, and say what to do.",
        discussion: "Ends with 1 when something is a fault. It changes nothing, and may be run at any time.")

    @OptionGroup var options: ServerOptions

    @OptionGroup var output: OutputOptions

    mutating func run() async throws {
        let settings = ServerSettings(try options.configuration())
        let findings = await ProgressLine.during("Looking at everything a server needs") {
            await Doctor.examine(settings)
        }
        let objects = findings.map { finding in
            JSONValue.members([
                "name": .string(finding.name), "state": .string(finding.state.rawValue), "what": .string(finding.what),
                "cure": finding.cure.map(JSONValue.string),
            ])
        }
        let lines = findings.map { finding in
            "\(finding.state.rawValue): \(finding.name): \(finding.what)" + (finding.cure.map { " \($0)" } ?? "")
        }
        output.print(["findings": .array(objects)], lines.joined(separator: "\n"))
        let faults = findings.count { $0.state == .fault }
        guard faults == 0 else { throw CommandError(faults == 1 ? "There is a fault." : "There are \(faults) faults.") }
    }
}
