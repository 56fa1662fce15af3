import ArgumentParser
import CountersignWire
import Encodings
import Foundation

/// Whether a person or a script reads the output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object.")
    var json = false

    /// Prints an object: as JSON, or in the form for people.
    func print(_ object: JSONValue, _ human: @autoclosure () -> String) {
        say(json ? ShownText.json(object) : human())
    }
}

/// A name and its value, `NAME=VALUE`.
struct NamedValue: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let end = argument.firstIndex(of: "=") else { return nil }
        name = String(argument[..<end])
        value = String(argument[argument.index(after: end)...])
    }
}

/// The server, and the caller's credential.
struct RemoteOptions: ParsableArguments {
    @Option(help: "The server's URL. (default: $COUNTERSIGN_URL, else http://127.0.0.1:8080)")
    var url: String?

    @Option(help: "An operator's token, or a client's ID:SECRET. (default: $COUNTERSIGN_TOKEN)")
    var token: String?

    /// Runs an operation with a connection to the server.
    func withRemote<Result: Sendable>(_ body: (Remote) async throws -> Result) async throws -> Result {
        let environment = ProcessInfo.processInfo.environment
        guard let token = token ?? environment["COUNTERSIGN_TOKEN"] else {
            throw CommandError("Say who you are with --token or COUNTERSIGN_TOKEN.", .usage)
        }
        let url = url ?? environment["COUNTERSIGN_URL"] ?? "http://127.0.0.1:8080"
        return try await Remote.with(url: url, credential: Credential(token), body)
    }

    /// The credential of a caller.
    enum Credential: Sendable {
        case token(Secret<String>)
        case client(id: String, secret: Secret<String>)

        init(_ text: String) {
            if text.hasPrefix("cli_"), let colon = text.firstIndex(of: ":") {
                self = .client(
                    id: String(text[..<colon]), secret: Secret(String(text[text.index(after: colon)...])))
            } else {
                self = .token(Secret(text))
            }
        }

        /// The `Authorization` header.
        ///
        /// Spec: RFC 6749 §2.3.1, RFC 6750 §2.1.
        var header: String {
            switch self {
            case .token(let token): "Bearer \(token.reveal())"
            case .client(let id, let secret): "Basic \(Base64.encode(Array("\(id):\(secret.reveal())".utf8)))"
            }
        }
    }
}
