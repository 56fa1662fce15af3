package import Encodings
import Foundation

/// A mail server as a separate process; see `Tests/SMTPPeer`.
package final class SMTPPeerProcess: Sendable {
    /// The peer is missing, or did not do what it should.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    /// How connections are secured, and which credentials are required.
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

    /// A Python with the packages that the peer needs, which `scripts/test` provides.
    private static let python = ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"]
    package static let isPresent = python != nil
    /// Why no peer can be started.
    package static let absence = "COUNTERSIGN_PYTHON names no Python with aiosmtpd; scripts/test makes one"

    private let program: RunningProgram
    private let folder: TemporaryFolder
    /// The port at which it listens.
    package let port: Int
    /// The file with the peer's certificate.
    package var authorities: String { folder.path("tls.pem") }

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

    /// Waits for the next mail that the peer accepts.
    package func arrival() async throws -> JSONValue {
        guard let line = await program.line() else { throw Broken(description: "the mail server has ended") }
        return try JSONValue(parsing: Array(line.utf8))
    }

    /// Sets the reply to an SMTP command, which is in lower case; nil for the usual reply.
    package func answer(_ command: String, with reply: String?) async throws {
        try program.type(JSONValue.members([command: reply.map(JSONValue.string) ?? .null]).text)
        guard await program.line()?.contains("done") == true else {
            throw Broken(description: "the mail server does not do what it is told")
        }
    }

    /// Suspends the peer: connections to it stay open, but nothing answers.
    package func hold() { program.send(SIGSTOP) }

    /// Resumes the peer.
    package func resume() { program.send(SIGCONT) }

    /// Ends the peer.
    package func end() async throws {
        // The peer ends when its standard input is closed; its output does not matter.
        _ = try await program.result()
    }
}
