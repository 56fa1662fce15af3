import CountersignCore
import CountersignWire
import Encodings

/// What all doors of a server share.
final class DoorResources: Sendable {
    let ports: Ports
    /// Whether development rules apply, because both the issuer and the listener are loopback.
    let isDevelopment: Bool
    /// From where certificates of clients come.
    let certificates: CertificateSource
    /// Where pages send whoever wants help, or to know what is done with their data.
    let links: PageLinks
    let waits = Waits()
    /// Ends all waits when the server is asked to stop.
    let shutdown = WaitCanceller()
    /// The codes that the pages show, in development mode: ``Server/shownCodes``.
    let (shownCodes, show) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
    private let wrongCredentials = WrongCredentials()

    init(
        ports: Ports, isDevelopment: Bool, links: PageLinks = PageLinks(), certificates: CertificateSource = .off
    ) {
        self.certificates = certificates
        self.links = links
        self.ports = ports
        self.isDevelopment = isDevelopment
    }

    /// A notifier for a caller's waits, which end when the caller hangs up or the server is asked to stop.
    ///
    /// - Throws: `CancellationError` if the caller has hung up.
    func changes(for caller: ServerContext) throws(CancellationError) -> any ChangeNotifier {
        guard let connection = ExchangeHandler.canceller(of: caller.channel) else { throw CancellationError() }
        return CancellableChanges(changes: ports.changes, cancellers: [connection, shutdown])
    }

    /// Authenticates a client by its secret.
    func client(_ id: String, secret: Secret<String>, from caller: ServerContext) async throws -> ClientAuthentication {
        let outcome = try await AuthenticateClient.authenticate(id, secret: secret, ports: ports)
        return try await authentication(outcome, named: ClientID(id)?.description, from: caller)
    }

    /// Authenticates a client that uses the OpenID provider by its secret, in whatever way it was sent.
    ///
    /// - Returns: the result, and how the client uses the provider; nil if it does not.
    func relyingParty(
        _ id: String, secret: Secret<String>, from caller: ServerContext
    ) async throws -> (ClientAuthentication, RelyingParty?) {
        let (outcome, party) = try await AuthenticateClient.authenticateRelyingParty(id, secret: secret, ports: ports)
        return (try await authentication(outcome, named: ClientID(id)?.description, from: caller), party)
    }

    /// Counts a failure of somebody who named no client that could be found.
    func failed(from caller: ServerContext) async throws -> ClientAuthentication {
        try await authentication(.refused, named: nil, from: caller)
    }

    /// Authenticates a client by an access token of its own, or the operator's client by the bootstrap token, which is
    /// valid only on the server's own machine.
    func client(showing shown: ShownToken, of incoming: Incoming) async throws -> ClientAuthentication {
        let token = shown.token
        // Only a JWT has dots. Nobody guesses its signature, and each ends after some minutes: such failures are not counted.
        if token.reveal().utf8.contains(UInt8(ascii: ".")) {
            let outcome = try await AuthenticateClient.authenticate(
                accessToken: token, by: shown.key, ports: ports)
            guard case .authenticated = outcome else { return .invalidToken }
            // check: BoundTokenTests.apiOnce
            guard try ports.spend(shown.key) else { throw UnprovedToken(refusal: .replayed) }
            return try await authentication(outcome, named: nil, from: incoming.context)
        }
        // The bootstrap token is bound to no key.
        guard shown.scheme == .bearer else { return .invalidToken }
        let outcome = try await AuthenticateClient.authenticate(
            bootstrapToken: token, isFromLoopback: incoming.isFromThisMachine, ports: ports)
        return try await authentication(outcome, named: "bearer", from: incoming.context)
    }

    /// Counts failures by the named client and by network, for all doors together.
    private func authentication(
        _ outcome: AuthenticateClient.Outcome, named name: String?, from caller: ServerContext
    ) async throws -> ClientAuthentication {
        switch outcome {
        // Only a caller with the right secret learns that the client is disabled.
        case .authenticated(let client): return client.client.disabledAt == nil ? .client(client) : .disabled
        case .refused:
            switch try await wrongCredentials.count(client: name, address: caller.network, ports: ports) {
            case .counted: return .failed
            case .tooMany(let seconds): return .tooManyFailures(retryAfter: seconds)
            }
        }
    }
}
