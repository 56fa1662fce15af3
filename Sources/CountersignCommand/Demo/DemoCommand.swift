import ArgumentParser
import Countersign
import CountersignServer
import CountersignWire
import Encodings
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RelyingPartyAPI
import ServiceLifecycle

/// The command `countersign demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "See everything at work: a server, a shop and a phone.",
        discussion: """
            Starts a server with a fresh database, a shop's web page, and a phone in this terminal. Press the button on \
            the page, type the number it shows here, and see the page turn.
            """)

    @Option(help: "The port of the shop's page; 0 for a free one.")
    var port = 8090

    @Flag(help: "Play it through without a person, and leave receipt.asc and certificate.asc in --out.")
    var unattended = false

    @Option(help: "Where to leave receipt.asc and certificate.asc.")
    var out = "countersign-demo"

    func validate() throws {
        try Port.validate(port)
    }

    mutating func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await Server(
            ServerSettings(dataFolder: folder.appending(path: "server").path, port: 0), environment: [:],
            logger: LineLog.logger(.text, .warning))
        guard let token = server.bootstrapToken else { throw CommandError("The demo's server is not new.") }
        let (unattended, port, out) = (unattended, port, out)
        try await server.run {
            let stage = try await Stage(
                issuer: "\(server.issuer)", token: token, folder: folder, shownCodes: server.shownCodes)
            if unattended {
                try await stage.playUnattended(out: out)
            } else {
                try await stage.playAttended(port: port)
            }
        }
    }
}

/// The parties of the demo: the shop as a client of the server, and its customer's phone.
struct Stage: Sendable {
    let issuer: String
    let shopCredential: RemoteOptions.Credential
    let operatorCredential: RemoteOptions.Credential
    let user: UserID
    let authenticator: Authenticator
    /// The codes that the server's pages show: the terminal has no camera.
    let shownCodes: AsyncStream<String>
    /// The address of the shop's customer.
    static let email = "anna@example.com"

    /// Sets everything up over HTTP, as an operator and a relying party would.
    init(issuer: String, token: Secret<String>, folder: URL, shownCodes: AsyncStream<String>) async throws {
        self.issuer = issuer
        self.shownCodes = shownCodes
        step("Server at \(issuer), on SQLite in \(folder.path)")
        let client = try await Remote.with(url: issuer, credential: .token(token)) { remote in
            var type = TypeRequest()
            (type.lifetime, type.maximumAsks, type.denialPause) = (180, 1000, 0)
            try await remote.call(.PUT, "/v1/admin/types/payment", type.json)
            let shop = ClientChanges(name: try ClientName("ACME Shop"))
            return try CreatedClientView(try await remote.call(.POST, "/v1/admin/clients", shop.json))
        }
        operatorCredential = .token(token)
        shopCredential = .client(id: "\(client.client.id)", secret: client.secret)
        step("Relying party \"ACME Shop\" registered as \(client.client.id)")
        let (user, invitation) = try await Remote.with(url: issuer, credential: shopCredential) { remote in
            var request = UserRequest(externalID: try ExternalID("customer-1"))
            request.email = EmailAddress(Self.email)
            let user = try UserView(try await remote.call(.POST, "/v1/users", request.json)).id
            return (user, try TicketView(try await remote.call(.POST, "/v1/users/\(user)/enrollment-tickets")).qr)
        }
        self.user = user
        guard let url = URL(string: issuer) else { throw CommandError("The issuer is not a URL.") }
        authenticator = try await Authenticator(
            issuer: url, app: AppDescription(name: "Demo", version: ServerVersion.text, deviceName: "Terminal phone"),
            vault: try FileVault(at: folder.appending(path: "phone")))
        let enrollment = try await authenticator.enroll(with: .ticket(invitation))
        step("Phone enrolled for the shop's customer, fingerprint \(enrollment.fingerprint)")
    }

    /// Serves the shop for a person.
    func playAttended(port: Int) async throws {
        try await withShop(port: port) { url in
            say(
                """

                  Open \(url) in a browser and press "Pay EUR 1,250.00 to ACME GmbH".
                  This terminal is the phone: it will show the payment and ask for the number.
                  "Sign in" there leads to the server's own pages: the customer is \(Self.email), who types a
                  number here, lets this phone scan the page's QR code, or types there the code from the mail
                  at \(issuer)/dev/outbox.
                  End with Ctrl-C.

                """)
            let phone = TerminalPhone(input: LineReader.standardInput)
            var scanned: ChallengeID?
            for await seen in seen() {
                switch seen {
                case .asked(let pending) where pending.id == scanned: break
                case .asked(let pending): try await phone.handle(pending)
                case .code(let code):
                    guard let question = await scan(code) else { continue }
                    scanned = question.id
                    say("\nThe phone sees the QR code on the page, and scans it.")
                    try await phone.handle(question)
                }
            }
        }
    }

    /// What the phone in the terminal sees.
    private enum Seen: Sendable {
        /// A challenge.
        case asked(PendingChallenge)
        /// A code on the screen beside it.
        case code(String)
    }

    /// What the phone sees, one after the other, until the task is cancelled.
    private func seen() -> AsyncStream<Seen> {
        let (all, add) = AsyncStream.makeStream(of: Seen.self)
        let watching = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await pending in authenticator.challenges() { add.yield(.asked(pending)) }
                    // The phone is enrolled no more.
                    add.finish()
                }
                group.addTask { for await code in shownCodes { add.yield(.code(code)) } }
            }
        }
        add.onTermination = { _ in watching.cancel() }
        return all
    }

    /// The challenge to which a code leads; nil for a code that was scanned before, or is over.
    private func scan(_ code: String) async -> OpenedChallenge? {
        guard let enrollment = await authenticator.enrollments.first else { return nil }
        do {
            return try await enrollment.claim(code)
        } catch {
            switch error {
            case .codeRefused, .challengeEnded, .challengeExpired, .challengeNotFound, .alreadyAnswered: break
            default: say("\(ShownText.line("\(error)")) \(error.suggestion)")
            }
            return nil
        }
    }

    /// Ends the locks, as an operator does after finding out who started what the user reported.
    @Sendable private func endLocks() async throws {
        try await Remote.with(url: issuer, credential: operatorCredential) { remote in
            for lock in try await remote.all("locks", of: "/v1/admin/locks") {
                try await remote.call(.DELETE, "/v1/admin/locks/\(lock["challenge"]?.string ?? "")")
            }
        }
    }

    /// Runs an operation while the shop is served.
    func withShop(port: Int, _ body: @escaping @Sendable (String) async throws -> Void) async throws {
        try await Remote.with(url: issuer, credential: shopCredential) { remote in
            guard case .client(let id, let secret) = shopCredential else {
                throw CommandError("The shop has no secret.")
            }
            let signIn = ShopSignIn(issuer: issuer, clientID: id, secret: secret)
            let shop = Shop(countersign: remote, user: user, signIn: signIn, lookIntoReports: endLocks)
            let (addresses, announce) = AsyncStream.makeStream(of: Int.self)
            let application = Application(
                router: shop.router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
                onServerRunning: { channel in announce.yield(channel.localAddress?.port ?? port) }, logger: Self.quiet)
            // The shop closes when its visitor leaves.
            let visitor = Background {
                var iterator = addresses.makeAsyncIterator()
                guard let port = await iterator.next() else { return }
                let uri = "http://127.0.0.1:\(port)/signed-in"
                try await letSignIn(id, returningTo: uri)
                await signIn.serve(at: uri)
                try await body("http://127.0.0.1:\(port)")
            }
            let group = ServiceGroup(
                configuration: .init(
                    services: [
                        .init(service: application),
                        .init(service: visitor, successTerminationBehavior: .gracefullyShutdownGroup),
                    ], logger: Self.quiet))
            do {
                try await group.run()
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                throw CommandError("Port \(port) is taken. Choose another with --port, or 0 for a free one.")
            }
        }
    }

    /// Lets the shop sign people in, as an operator does.
    private func letSignIn(_ client: String, returningTo uri: String) async throws {
        let settings: JSONValue = [
            "profile": "web", "redirect_uris": [.string(uri)], "asked_browsers": "all",
            "ways": ["device", "qr", "email"],
        ]
        _ = try await Remote.with(url: issuer, credential: operatorCredential) { remote in
            try await remote.call(.PUT, "/v1/admin/clients/\(client)/openid", settings)
        }
    }

    private static var quiet: Logger {
        var logger = LineLog.logger(.text, .warning)
        logger.logLevel = .critical
        return logger
    }
}

/// Prints one step of the demo.
func step(_ text: String) {
    say("• \(text)")
}
