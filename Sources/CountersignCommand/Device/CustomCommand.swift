import ArgumentParser
import Countersign
import Encodings
import Foundation

extension DeviceCommand {
    struct CustomCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "custom", abstract: "The custom authenticators of this device.",
            discussion:
                """
                The client that the device was enrolled through judges them, by a hook of its own: see `countersign \
                client update --authenticator`. What it judges is read from standard input, a line, which a terminal \
                does not show; where a PIN is set, the PIN comes first.
                """,
            subcommands: [Show.self, Register.self, Deregister.self])

        struct Show: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Show which there are.")

            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let custom = try await device.enrollment().methods().custom.sorted { $0.key < $1.key }
                output.print(
                    ["custom": .array(custom.map { ["name": .string($0.key), "registered": .bool($0.value)] })],
                    custom.isEmpty
                        ? "There are none."
                        : custom.map { "\($0.key): \($0.value ? "registered" : "not registered")" }
                            .joined(separator: "\n"))
            }
        }

        struct Register: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Register a custom authenticator, anew where it was registered before.")

            @Argument(help: "Its name.")
            var name: String

            @OptionGroup var change: ChangeOptions
            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let enrollment = try await device.enrollment()
                let pin = try await enrollment.askedPIN()
                let payload = try await enrollment.register(
                    custom: name, data: try await CustomCommand.data(for: name), pin: pin, authority: change.authority)
                output.print(
                    .members(["custom": .string(name), "payload": payload.map(JSONValue.string)]),
                    "\(name) is registered.\(CustomCommand.said(payload))")
            }
        }

        struct Deregister: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Give a custom authenticator up.")

            @Argument(help: "Its name.")
            var name: String

            @OptionGroup var change: ChangeOptions
            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let enrollment = try await device.enrollment()
                try await enrollment.deregister(
                    custom: name, pin: try await enrollment.askedPIN(), authority: change.authority)
                output.print(["custom": .string(name), "registered": false], "\(name) is registered no more.")
            }
        }

        /// Asks for the data for a custom authenticator: a line of standard input, which a terminal does not show.
        static func data(for name: String) async throws -> String {
            let isTerminal = isatty(STDIN_FILENO) == 1
            if isTerminal { say("\(name):", terminator: " ") }
            guard let line = await LineReader.standardInput.nextHidden() else {
                throw CommandError("What \(name) judges is needed on standard input.", .usage)
            }
            if isTerminal { say("") }
            return line
        }

        /// A custom authenticator's data for the app, made safe for a terminal.
        static func said(_ payload: String?) -> String {
            guard let payload else { return "" }
            return "\nIt says: " + payload.unicodeScalars.map { $0.escaped(asASCII: !$0.isASCII) }.joined()
        }
    }
}
