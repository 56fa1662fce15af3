import CountersignWire
public import Encodings

/// Finds out who calls the API.
public enum AuthenticateClient {
    /// A client by its id and secret, or nil.
    ///
    /// An unknown id costs the same comparison as a wrong secret, so time tells nobody which it was.
    public static func authenticate(_ id: String, secret: Secret<String>, ports: Ports) async throws -> Client? {
        let client = try await ports.store.read { reader in try ClientID(id).flatMap { try reader.client($0) } }
        let hash = client?.secretHash ?? SecretHash(of: Secret(""))
        guard hash.matches(secret), let client, client.secretHash != nil else { return nil }
        return client
    }

    /// The operator's client by the bootstrap token, or nil: a wrong token, an old one, or a caller from afar.
    ///
    /// - Parameters:
    ///   - bootstrapToken: the token.
    ///   - isFromLoopback: whether the caller is on the server's own machine.
    public static func authenticate(
        bootstrapToken: Secret<String>, isFromLoopback: Bool, ports: Ports
    ) async throws -> Client? {
        let now = ports.time.now
        return try await ports.store.read { reader in
            guard let token = try reader.bootstrapToken(), token.hash.matches(bootstrapToken), isFromLoopback,
                now < token.expiresAt
            else { return nil }
            return try reader.operatorClient()
        }
    }
}
