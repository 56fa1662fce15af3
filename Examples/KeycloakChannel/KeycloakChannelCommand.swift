import ArgumentParser
import AsyncHTTPClient
import Encodings
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix

/// The program: reads what it is told, and connects the parts.
@main
struct KeycloakChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "KeycloakChannel", abstract: "Keycloak's CIBA requests are answered on trusted devices.",
        discussion: """
            Keycloak's HTTP authentication channel posts to it, Countersign asks the person, and Keycloak is told the \
            answer. COUNTERSIGN_TOKEN holds the ID:SECRET of its client at Countersign. See docs/guides/keycloak.md.
            """)

    @Option(help: "The realm's issuer, such as https://keycloak.example.com/realms/acme.")
    var realm: String

    @Option(help: "Countersign's URL.")
    var countersign: String

    @Option(help: "The challenge type to ask by; it shows no number.")
    var type = "confirm"

    @Option(help: "What people are asked.")
    var message = "Do you want to sign in?"

    @Option(help: "The address to listen at.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at; 0 for a free one.")
    var port = 8081

    mutating func validate() throws {
        guard Self.isProtected(realm), Self.isProtected(countersign) else {
            throw ValidationError(
                "--realm and --countersign take https URLs without a slash at the end; http only on this machine.")
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
    }

    /// Whether nobody in between can read or change what is sent to this URL.
    static func isProtected(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.user == nil,
            url.query == nil, url.fragment == nil, !text.hasSuffix("/")
        else { return false }
        let isLocal = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        return url.scheme == "https" || url.scheme == "http" && isLocal
    }

    func run() async throws {
        // A peer that closes a connection must not end this program.
        signal(SIGPIPE, SIG_IGN)
        guard let token = ProcessInfo.processInfo.environment["COUNTERSIGN_TOKEN"], token.hasPrefix("cli_") else {
            throw ValidationError("COUNTERSIGN_TOKEN must hold the client's ID:SECRET.")
        }
        let logger = Logger(label: "keycloak-channel") { label in StreamLogHandler.standardError(label: label) }
        let client = Self.client()
        let keycloak = Keycloak(realm: realm, client: client, logger: logger)
        let exchanges = Exchanges(
            keycloak: keycloak,
            asker: Asker(
                url: countersign, credential: Secret(token), type: type, message: message, client: client,
                logger: logger))
        let host = host
        let application = Application(
            router: Door.router(keycloak, exchanges), server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                let line = "Keycloak may post to http://\(host):\(port)\(Door.path)\n"
                try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
            }, logger: logger)
        do {
            try await application.runService()
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    /// Follows no redirects, so that tokens and secrets go nowhere else.
    private static func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(5)
        // Who repeats a request decides that by the reason for which it was not sent.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.idleTimeout = .seconds(1)
        // Each person who is asked holds one connection.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Exchanges.most
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }
}
