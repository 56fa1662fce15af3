import ArgumentParser
import CountersignServer
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import RelyingPartyAPI

/// The command `countersign challenge`.
struct ChallengeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "challenge", abstract: "Ask users, and see what they answer.",
        subcommands: [
            Ask.self, List.self, Code.self, Enter.self, Return.self, Show.self, Resend.self, Cancel.self, Receipt.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List your challenges, newest first; with an operator's token, all clients'.")

        @Option(help: "Of one user: an id, or your own name for them.")
        var user: String?

        @Option(help: "By one type.")
        var type: String?

        @Option(help: "In one state: pending, approved, denied, failed, cancelled or expired.")
        var state: String?

        @Option(help: "How many at most; all if left out.")
        var limit: Int?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let query = Remote.query([("user", user.map(Remote.user)), ("type", type), ("state", state)])
            let limit = limit
            let challenges = try await remote.withRemote { remote in
                try await remote.all(
                    "challenges", of: remote.isOperator ? "/v1/admin/challenges" : "/v1/challenges",
                    query, atMost: limit ?? .max)
            }
            let lines = challenges.map { challenge in
                [
                    challenge["asked_at"]?.field, describe(challenge), challenge["type"]?.field,
                    challenge["user"]?.field,
                ]
                .compactMap { $0 }.joined(separator: "  ")
            }
            output.print(["challenges": .array(challenges)], lines.joined(separator: "\n"))
        }
    }

    struct Ask: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask a user something, or whoever scans a code.",
            discussion: "By a type with a code it prints that; `countersign challenge code` prints a new one.")

        @Option(
            help: "The user: an id, or your own name for them; may be left out where the type has a code to scan.")
        var user: String?

        @Option(help: "The challenge type.")
        var type = "confirm"

        @Option(
            help:
                "The short message, at most 155 characters, which may travel in a notification; the type's if left out."
        )
        var message: String?

        @Option(help: "The language of the type's own message, as in de or pt-BR.")
        var locale: String?

        @Option(help: "The message to be shown and signed, where it is another.")
        var secureMessage: String?

        @Option(help: ArgumentHelp("A detail; may be repeated.", valueName: "LABEL=VALUE"))
        var detail: [NamedValue] = []

        @Option(help: "Data to be signed along.")
        var signingData: String?

        @Option(help: "How many seconds the challenge lives, at most what its type says.")
        var expiresIn: Int64?

        @Option(help: "What you know the user's browser by, as in a cookie: 16 to 128 visible characters.")
        var browser: String?

        @Option(help: "One of the client's registered URLs, to be told of the end.")
        var callback: String?

        @Option(
            help: """
                One of the client's registered URLs, for a device to return to: the code is a link then, to be followed \
                on the device where this was started.
                """)
        var returnTo: String?

        @Option(help: "Where a code is sent where the type does that, or falls back to one: + and the country's code.")
        var phone: String?

        @Option(help: "Names this very request, so that repeating it asks only once.")
        var idempotencyKey: String?

        @Option(help: "Wait for so many seconds for the answer.")
        var wait: Int64 = 0

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (0...86400).contains(wait) else { throw ValidationError("--wait takes 0 to 86400 seconds.") }
        }

        mutating func run() async throws {
            let body = body
            let key = idempotencyKey
            let wait = wait
            let output = output
            try await remote.withRemote { remote in
                func tell(asked: JSONValue) throws {
                    let id = ShownText.line(asked["id"]?.string ?? "")
                    let number = asked["number"]?.field.map { "\nNumber to type on the device: \($0)" } ?? ""
                    let code = try asked["code"].map { try ShownCode($0) }
                    output.print(asked, "Challenge \(id)\(number)")
                    if !output.json { code?.show() }
                }
                guard wait > 0 else {
                    return try tell(asked: await remote.call(.POST, "/v1/challenges", body, idempotency: key))
                }
                var told = remote.askAndWait(
                    body, idempotency: key ?? UUID().uuidString, for: .seconds(wait)
                ).makeAsyncIterator()
                let reply = try await ProgressLine.during("Waiting for the server") { try await told.next() }
                guard let asked = reply else { throw CancellationError() }
                if !output.json { try tell(asked: asked) }
                let end = try await ProgressLine.during("Waiting for the answer") { try await told.next() }
                var challenge: JSONValue
                if let end {
                    challenge = end
                } else {
                    let id = Remote.escaped(asked["id"]?.string ?? "")
                    challenge = try await remote.call(.GET, "/v1/challenges/\(id)")
                }
                if output.json, var object = challenge.object {
                    // One object holds everything: the reply to the request, and the current status.
                    for member in asked.object?.members ?? [] where object[member.name] == nil {
                        object[member.name] = member.value
                    }
                    challenge = .object(object)
                }
                output.print(challenge, describe(challenge))
                guard challenge["state"]?.string == "approved" else {
                    throw CommandError("The challenge was not approved.")
                }
            }
        }

        private var body: JSONValue {
            AskRequest.json(
                user: user.map(Remote.user), type: type, message: message, secureMessage: secureMessage,
                details: detail.map { ($0.name, $0.value) }, signingData: signingData, browser: browser,
                lifetime: expiresIn, callbackURI: callback, returnURI: returnTo, phone: phone, locale: locale)
        }
    }

    struct Code: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the code of a challenge, to be scanned by a device.",
            discussion: "A new one each time; each works for a minute, and the first device to scan one is asked.")

        @Argument(help: "The challenge's id.")
        var id: String

        @Option(help: "Write the code as a picture to this file, SVG.")
        var svg: String?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/challenges/\(Remote.escaped(id))"
            guard let svg else {
                let code = try await remote.withRemote { try await $0.call(.GET, "\(path)/code") }
                let shown = try ShownCode(code)
                if output.json { say(ShownText.json(code)) } else { shown.show() }
                return
            }
            let picture = try await remote.withRemote { try await $0.bytes(.GET, "\(path)/qr.svg") }
            do {
                try Data(picture).write(to: URL(filePath: svg), options: .atomic)
            } catch {
                throw CommandError("\(svg) cannot be written: name another file with --svg.")
            }
            output.print(["svg": .string(svg)], svg)
        }
    }

    struct Enter: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say which code the user has typed, out of the text message.")

        @Argument(help: "The challenge's id.")
        var id: String

        @Argument(help: "Six digits.")
        var code: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            try await tell(id, .POST, "/code", EnteredCode.json(code: code), remote, output)
        }
    }

    struct Return: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Present the code that a device brought back, which releases its approval.",
            discussion:
                """
                The challenge is the one that the browser session has asked in which the code arrives, never one that \
                arrives with it: whoever was sent a link brings the code to a session that has asked nothing.
                """)

        @Argument(help: "The challenge's id.")
        var id: String

        @Argument(help: "The parameter return_code of the URL that the device opened.")
        var code: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            try await tell(id, .POST, "/return", ReturnRequest(code: Secret(code)).json, remote, output)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show how a challenge stands.")

        @Argument(help: "The challenge's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            try await tell(id, .GET, "", nil, remote, output)
        }
    }

    struct Resend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Announce a challenge again to the devices that push reaches.",
            discussion: "As often as its type allows.")

        @Argument(help: "The challenge's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            try await tell(id, .POST, "/resend", nil, remote, output)
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take a challenge back.")

        @Argument(help: "The challenge's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            try await tell(id, .DELETE, "", nil, remote, output)
        }
    }

    struct Receipt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Fetch the receipt and the device's certificate.",
            discussion: "Writes receipt.asc and certificate.asc, which gpg and `countersign verify` check.")

        @Argument(help: "The challenge's id.")
        var id: String

        @Option(help: "The folder to write to.")
        var out = "."

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/challenges/\(Remote.escaped(id))/receipt"
            let out = out
            let (receipt, certificate) = try await remote.withRemote { remote in
                (try await remote.bytes(.GET, path), try await remote.bytes(.GET, "\(path)?format=certificate"))
            }
            let files = try ReceiptFiles(folder: out, receipt: receipt, certificate: certificate)
            output.print(
                ["receipt": .string(files.receipt), "certificate": .string(files.certificate)],
                "\(files.receipt)\n\(files.certificate)\n\nCheck them:\n\(files.commands.joined(separator: "\n"))")
        }
    }
}

/// The code of a challenge: as a picture for a phone, and as text for `countersign device scan`; or the link.
private struct ShownCode {
    private let picture: QRPicture?
    private let text: String

    init(_ code: JSONValue) throws {
        let end = code["expires_at"]?.field ?? ""
        if let link = code["link"]?.field {
            picture = nil
            text = "Follow it before \(end): \(link)"
        } else {
            let scanned = code["qr"]?.field ?? ""
            picture = try QRPicture(of: scanned)
            text = "Scan it before \(end), or type: countersign device scan \(scanned)"
        }
    }

    func show() {
        if let picture { say(picture) }
        say(text)
    }
}

/// Calls the server about a challenge, and prints the challenge's status afterwards.
private func tell(
    _ id: String, _ method: HTTPMethod, _ rest: String, _ body: JSONValue?, _ remote: RemoteOptions,
    _ output: OutputOptions
) async throws {
    let path = "/v1/challenges/\(Remote.escaped(id))\(rest)"
    let challenge = try await remote.withRemote { try await $0.call(method, path, body) }
    output.print(challenge, describe(challenge))
}

/// The status of a challenge, for people.
private func describe(_ challenge: JSONValue) -> String {
    let reason = challenge["reason"]?.field.map { " (\($0))" } ?? ""
    let method = challenge["method"]?.field.map { " by \($0)" } ?? ""
    return "\(challenge["id"]?.field ?? ""): \(challenge["state"]?.field ?? "")\(method)\(reason)"
}

/// A receipt and its certificate as files, and how to check them.
struct ReceiptFiles: Sendable {
    let receipt: String
    let certificate: String

    init(folder: String, receipt: [UInt8], certificate: [UInt8]) throws {
        self.receipt = "\(folder)/receipt.asc"
        self.certificate = "\(folder)/certificate.asc"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(receipt).write(to: URL(filePath: self.receipt), options: .atomic)
            try Data(certificate).write(to: URL(filePath: self.certificate), options: .atomic)
        } catch {
            throw CommandError("\(folder) cannot be written: choose another folder with --out.")
        }
    }

    /// The commands to type; they use an empty key ring, so that only this certificate can verify the receipt.
    var commands: [String] {
        [
            "export GNUPGHOME=$(mktemp -d)",
            "gpg --import \(shellWord(certificate))",
            "gpg --verify \(shellWord(receipt))",
        ]
    }
}
