import ArgumentParser
import Countersign
import Foundation
import Hummingbird
import Logging
import NIOCore

/// The program: opens the device's folder, and listens on this machine alone.
@main
struct ConformanceApproverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ConformanceApprover",
        abstract: "For tests alone: says yes or no as a conformance suite wants it.",
        discussion: """
            It answers by a software device without asking anybody, so whoever can post to it approves whatever that \
            device is asked. It is no part of the server, and must never be near one that people use: enroll a device \
            of a test user at a test server for it (`countersign device enroll --home FOLDER`). The suite's \
            automated_ciba_approval_url is the address that it prints. See docs/reference/conformance.md.
            """)

    @Option(help: "The folder of a device that `countersign device enroll` has made.")
    var home: String

    @Option(help: "The port to listen at, on 127.0.0.1; 0 for a free one.")
    var port = 8083

    mutating func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
    }

    func run() async throws {
        // A peer that closes a connection must not end this program.
        signal(SIGPIPE, SIG_IGN)
        let logger = Logger(label: "conformance-approver") { label in StreamLogHandler.standardError(label: label) }
        let host = "127.0.0.1"
        let application = Application(
            router: Door.router(Approver(authenticator: try await authenticator())),
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                let line =
                    "For tests alone. The suite may post to "
                    + "http://\(host):\(port)\(Door.path)?auth_req_id={auth_req_id}&action={action}\n"
                try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
            }, logger: logger)
        try await application.runService()
    }

    /// The device in the folder, as `countersign device` keeps it.
    private func authenticator() async throws -> Authenticator {
        let folder = URL(filePath: home)
        guard let issuer = try? String(contentsOf: folder.appending(path: "issuer"), encoding: .utf8),
            let url = URL(string: issuer)
        else { throw ValidationError("\(home) has no device: `countersign device enroll --home` makes one.") }
        let authenticator = try await Authenticator(
            issuer: url,
            app: AppDescription(name: "ConformanceApprover", version: "1", deviceName: "Conformance approver"),
            vault: try FileVault(at: folder.appending(path: "vault")))
        guard await !authenticator.enrollments.isEmpty else {
            throw ValidationError("\(home) has no enrolled device: `countersign device enroll --home` makes one.")
        }
        return authenticator
    }
}
