package import Encodings
import Foundation

/// A mail server in a process of its own; see `Tests/SMTPPeer`.
package final class SMTPPeerProcess: Sendable {
    /// It is missing, or did not do what it should.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    /// How the way to it is secured, and what it asks for.
    package struct Rules: Sendable {
        package var security = "none"
        package var credentials: (user: String, password: String)?
        package var offersSMTPUTF8 = false

        package init(
            security: String = "none", credentials: (user: String, password: String)? = nil,
            offersSMTPUTF8: Bool = false
        ) {
            self.security = security
            self.credentials = credentials
            self.offersSMTPUTF8 = offersSMTPUTF8
        }
    }

    /// Python with what the peer needs, which `scripts/test` names.
    private static let python = ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"]
    /// Whether a peer can be started.
    package static let isPresent = python != nil
    /// Why not.
    package static let absence = "COUNTERSIGN_PYTHON names no Python with aiosmtpd; scripts/test makes one"

    private let program: RunningProgram
    private let folder: TemporaryFolder
    /// Where it listens.
    package let port: Int
    /// The file of the certificate that it shows.
    package var authorities: String { folder.path("tls.pem") }

    /// Starts a peer.
    package init(_ rules: Rules = Rules()) async throws {
        folder = try TemporaryFolder()
        guard let python = Self.python else { throw Broken(description: Self.absence) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../SMTPPeer/smtp_peer.py")
        var arguments = [script.standardizedFileURL.path, "--security", rules.security]
        if rules.security != "none" {
            try await folder.writeCertificate()
            arguments += ["--certificate", folder.path("tls.pem"), "--key", folder.path("tls.key")]
        }
        if let (user, password) = rules.credentials { arguments += ["--user", user, "--password", password] }
        if rules.offersSMTPUTF8 { arguments.append("--smtputf8") }
        program = try RunningProgram(python, arguments)
        guard let line = await program.line(), let told = try? JSONValue(parsing: Array(line.utf8)),
            let port = told["port"]?.integer
        else { throw Broken(description: "the mail server did not start: \(try program.errors)") }
        self.port = Int(port)
    }

    /// The next mail that it takes.
    package func arrival() async throws -> JSONValue {
        guard let line = await program.line() else { throw Broken(description: "the mail server has ended") }
        return try JSONValue(parsing: Array(line.utf8))
    }

    /// Has it answer so from now on to one of SMTP's commands, in lower case, or as usual again.
    package func answer(_ command: String, with reply: String?) async throws {
        try program.type(JSONValue.members([command: reply.map(JSONValue.string) ?? .null]).text)
        guard await program.line()?.contains("done") == true else {
            throw Broken(description: "the mail server does not do what it is told")
        }
    }

    /// Holds it: connections to it stand, and nothing answers there.
    package func hold() { program.send(SIGSTOP) }

    /// Lets it go on.
    package func resume() { program.send(SIGCONT) }

    /// Ends it.
    package func end() async throws {
        // It ends with its standard input; what it says of that is not asked for.
        _ = try await program.result()
    }
}
