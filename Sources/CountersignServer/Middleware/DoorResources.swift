import CountersignCore
import CountersignWire
import Encodings

/// What the doors of one server share.
final class DoorResources: Sendable {
    let ports: Ports
    /// Whether development rules apply: the issuer and the listener are both loopback.
    let isDevelopment: Bool
    let waits = Waits()
    /// Ends all waits when the server is asked to stop.
    let shutdown = WaitCanceller()
    private let wrongCredentials = WrongCredentials()

    /// - Parameters:
    ///   - ports: what operations need from outside.
    ///   - isDevelopment: whether the issuer and the listener are both loopback.
    init(ports: Ports, isDevelopment: Bool) {
        self.ports = ports
        self.isDevelopment = isDevelopment
    }

    /// What a caller waits for: such a wait ends when the caller hangs up or the server is asked to stop.
    ///
    /// - Throws: `CancellationError` when the caller has hung up.
    func changes(for caller: ServerContext) throws(CancellationError) -> any ChangeNotifier {
        guard let connection = ExchangeHandler.canceller(of: caller.channel) else { throw CancellationError() }
        return CancellableChanges(changes: ports.changes, cancellers: [connection, shutdown])
    }

    /// The client that shows its secret.
    func client(_ id: String, secret: Secret<String>, from caller: ServerContext) async throws -> ClientAuthentication {
        let client = try await AuthenticateClient.authenticate(id, secret: secret, ports: ports)
        return try await authentication(of: client, named: ClientID(id)?.description, from: caller)
    }

    /// The operator's client, for who shows the bootstrap token on the server's own machine.
    func client(bootstrapToken: Secret<String>, of incoming: Incoming) async throws -> ClientAuthentication {
        let client = try await AuthenticateClient.authenticate(
            bootstrapToken: bootstrapToken, isFromLoopback: incoming.isFromThisMachine, ports: ports)
        return try await authentication(of: client, named: "bearer", from: incoming.context)
    }

    /// Failures are counted by the client they name and by network, whichever door they come to.
    private func authentication(
        of client: ClientCaller?, named name: String?, from caller: ServerContext
    ) async throws -> ClientAuthentication {
        guard let client else {
            let seconds = try await wrongCredentials.note(client: name, address: caller.network, ports: ports)
            return seconds.map { .tooManyFailures(retryAfter: $0) } ?? .failed
        }
        // Told only to who has shown its secret.
        return client.client.disabledAt == nil ? .client(client) : .disabled
    }
}
