import ArgumentParser
import CountersignWire
import Encodings
import NIOHTTP1
import RelyingPartyAPI

/// The command `countersign admin test-message`.
struct TestMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-message",
        abstract: "Send a mail or a text message, to see that it arrives and how it looks.",
        discussion: """
            Acts with an operator's token on a server that runs, and waits until the mail server or the gateway has taken the \
            message. A code in it is 123456, which is good for nothing.
            """)

    /// How long to wait.
    private static let patience = Duration.seconds(40)

    @Option(help: "The mail address to send to.")
    var email: String?

    @Option(help: "The telephone number to send to, such as +15551234567.")
    var phone: String?

    @Option(help: "Which text: test or code.")
    var template = "test"

    @Option(help: "The language, such as de. (default: the server's)")
    var language: String?

    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (email == nil) != (phone == nil) else { throw ValidationError("Name either --email or --phone.") }
    }

    mutating func run() async throws {
        let request = TestMessageRequest.json(email: email, phone: phone, template: template, language: language)
        let id = try await remote.withRemote { remote in
            let reply = try await remote.call(.POST, "/v1/admin/messages", request)
            guard let id = reply["message"]?.string else { throw CommandError("The server named no message.") }
            try await ProgressLine.during("Waiting until the message is taken") {
                try await Self.arrival(of: id, by: remote)
            }
            return id
        }
        output.print(["message": .string(id)], "\(ShownText.line(id)) was taken: look whether it has come.")
    }

    /// Returns when a message has arrived.
    private static func arrival(of id: String, by remote: Remote) async throws {
        let end = ContinuousClock.now + patience
        while true {
            let entry: JSONValue
            do {
                entry = try await remote.call(.GET, "/v1/admin/outbox/\(Remote.escaped(id))")
            } catch let problem as ProblemDetails where problem.knownCode == .messageNotFound {
                return
            }
            let error = entry["last_error"]?.field
            if let error {
                let isDead = entry["state"]?.string == "dead"
                throw CommandError(
                    "Message \(ShownText.line(id)) has not arrived: \(error)."
                        + (isDead ? "" : " It is tried again: see `countersign admin outbox list --waiting`."))
            }
            guard ContinuousClock.now < end else {
                throw CommandError(
                    "Message \(ShownText.line(id)) has not left yet: see `countersign admin outbox list --waiting`.")
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
