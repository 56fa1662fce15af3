import ArgumentParser
import Countersign
import CountersignWire
import Encodings
import Foundation

extension DeviceCommand {
    struct PINCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pin", abstract: "The PIN of this device.",
            discussion:
                """
                PINs are read from standard input, a line each; a terminal does not show them. They are kept nowhere: \
                the device derives a key from a PIN each time, and only the server can tell whether it is the right \
                one.
                """,
            subcommands: [Show.self, Set.self, Change.self, Remove.self])

        struct Show: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Show how the PIN stands, and the rules for it.")

            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let methods = try await device.enrollment().methods()
                let policy = methods.pinPolicy
                let status =
                    switch methods.pin {
                    case .none: "No PIN is set."
                    case .set: "A PIN is set; wrong ones left: \(methods.attemptsLeft)."
                    case .locked: "The PIN is locked."
                    }
                let json = JSONValue.members([
                    "state": .string(methods.pin.rawValue), "attempts_left": .integer(Int64(methods.attemptsLeft)),
                    "policy": policy.json, "changes_left": .integer(Int64(methods.changesLeft)),
                ])
                output.print(
                    json,
                    """
                    \(status)
                    Rules: \(policy.minimumLength) to \(policy.maximumLength) digits, none more than \
                    \(policy.maximumRepeats) times\(policy.allowsSequences ? "" : ", no sequence")\
                    \(policy.blocked.isEmpty ? "" : ", none of \(policy.blocked.count) that too many choose").\
                    \(methods.tellsToEnrollAnew ? "\nEnroll this device anew soon: room for changes left: \(methods.changesLeft)." : "")
                    """)
            }
        }

        struct Set: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Set the first PIN.")

            @OptionGroup var change: ChangeOptions
            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let enrollment = try await device.enrollment()
                let pin = try await PIN(typed: "New PIN:")
                try await enrollment.setPIN(pin, authority: change.authority)
                output.print(["pin": "set"], "The PIN is set.")
            }
        }

        struct Change: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Replace the PIN: the first line is the old one, the second the new one.")

            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let enrollment = try await device.enrollment()
                let old = try await PIN(typed: "PIN:")
                let new = try await PIN(typed: "New PIN:")
                try await enrollment.changePIN(from: old, to: new)
                output.print(["pin": "replaced"], "The PIN is another one now.")
            }
        }

        struct Remove: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Remove the PIN.")

            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let enrollment = try await device.enrollment()
                try await enrollment.removePIN(try await PIN(typed: "PIN:"))
                output.print(["pin": "removed"], "There is no PIN any more.")
            }
        }
    }
}

extension PIN {
    /// Asks for a PIN: a line of standard input, which a terminal does not show.
    init(typed prompt: String) async throws {
        let isTerminal = isatty(STDIN_FILENO) == 1
        if isTerminal { say(prompt, terminator: " ") }
        guard let line = await LineReader.standardInput.nextHidden() else {
            throw CommandError("A PIN is needed on standard input.", .usage)
        }
        if isTerminal { say("") }
        try self.init(line.trimmingCharacters(in: .whitespaces))
    }
}

extension LineReader {
    /// The next line, not shown while it is typed.
    func nextHidden() async -> String? {
        var settings = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &settings) == 0
        var hidden = settings
        hidden.c_lflag &= ~tcflag_t(ECHO)
        if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &hidden) }
        defer { if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &settings) } }
        return await next()
    }
}
