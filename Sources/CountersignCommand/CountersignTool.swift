import ArgumentParser
import Countersign
import CountersignServer
import CountersignWire
import Encodings
import Foundation

/// The command-line tool.
struct CountersignTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign",
        abstract: "Trusted-device authentication you run yourself.",
        discussion: """
            Start a server with `countersign serve`, or see everything at work with `countersign demo`.

            Commands that talk to a server take its address from --url or COUNTERSIGN_URL, and who they act for from \
            --token or COUNTERSIGN_TOKEN: an operator's token, or a client's id and secret as ID:SECRET.

            Exit codes: 0 done, 1 refused, 2 usage, 3 server not reached. With --json an error is one line of JSON on \
            standard error, with its `code` and `detail`.
            """,
        version: ServerVersion.text,
        subcommands: [
            ServeCommand.self, ConfigCommand.self, DemoCommand.self, ClientCommand.self, UserCommand.self,
            TypeCommand.self,
            ChallengeCommand.self, DeviceCommand.self, LoginCommand.self, LogoutCommand.self, VerifyCommand.self,
            AdminCommand.self,
        ])
}

/// The exit status of the tool.
///
/// Scripts may rely on these values.
enum ExitStatus: Int32 {
    case done = 0
    case refused = 1
    case usage = 2
    case unreachable = 3
}

/// An error that the tool itself detects, with its exit status.
struct CommandError: Error, CustomStringConvertible {
    let description: String
    let status: ExitStatus

    init(_ description: String, _ status: ExitStatus = .refused) {
        self.description = description
        self.status = status
    }
}

@main
enum Entrance {
    static func main() async {
        // If the reader goes away, as `head` does, the tool ends without a message.
        signal(SIGPIPE, SIG_DFL)
        do {
            var command = try CountersignTool.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            leave(error)
        }
    }

    private static func leave(_ error: any Error) -> Never {
        let isOwn = error is CommandError || error is StartError || error is ConfigurationFaults
        let isTheirs = error is ProblemDetails || error is CountersignError
        // Help and version are not errors; every other error of the parser is an error of usage.
        if !isOwn, !isTheirs, CountersignTool.exitCode(for: error) == .success {
            CountersignTool.exit(withError: error)
        }
        let report = ErrorReport(error)
        let text = asksForJSON ? ShownText.json(report.json) : ShownText.escaped(report.text)
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
        exit(report.status.rawValue)
    }

    /// Whether a script reads the output.
    ///
    /// The arguments themselves are searched, because the error may be that they cannot be parsed.
    private static var asksForJSON: Bool {
        CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
    }
}

/// Prints a line at once, without a buffer, and without characters that control a terminal.
func say(_ text: String, terminator: String = "\n") { put(ShownText.escaped(text) + terminator) }

/// Prints a QR code, in its colours where they are shown.
func say(_ picture: QRPicture) { put(picture.blocks(inColours: TerminalColours.areShown(in: STDOUT_FILENO)) + "\n") }

/// Writes to standard output.
private func put(_ text: String) {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
        // The reader has gone, as `head` does: nobody is left to read a message.
        exit(128 + SIGPIPE)
    }
}

/// The ports that a command can listen on; 0 means a free one.
enum Port {
    static let all = 0...65535

    static func validate(_ port: Int) throws {
        guard all.contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
    }
}

/// A text as one word of a shell's command line.
func shellWord(_ text: String) -> String {
    let isPlain =
        !text.isEmpty
        && text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+,:=@".utf8.contains(byte)
            }
        }
    return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
}
