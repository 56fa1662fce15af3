package import CountersignCore
package import CountersignWire
import Encodings

private enum Statements {
    static let token = SQLStatement("SELECT sealed, issued_at FROM provider_tokens WHERE name = $1")
    static let replace = SQLStatement(
        """
        INSERT INTO provider_tokens (name, sealed, issued_at) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, issued_at = excluded.issued_at
        WHERE provider_tokens.issued_at = $4
        """)
}

/// The tokens with which all nodes authenticate to push services.
extension SQLStore: ProviderTokens {
    /// See ``ProviderTokens/providerToken(_:)``.
    package func providerToken(_ name: String) async throws -> ProviderToken? {
        let sealer = try sealer
        return try await engine.read { try Self.token(name, $0, sealer) }
    }

    /// See ``ProviderTokens/replace(_:issuedAt:by:)``.
    package func replace(
        _ name: String, issuedAt: Timestamp?, by token: ProviderToken
    ) async throws -> ProviderToken {
        try await engine.write { connection in
            let sealer = try sealer
            let sealed = try sealer.seal(Array(token.text.reveal().utf8), for: Self.place(name))
            try connection.send(
                Statements.replace,
                [.text(name), .blob(sealed), token.issuedAt.value, .optional(issuedAt?.milliseconds)])
            guard let status = try Self.token(name, connection, sealer) else {
                throw StoreError.corruptRow("provider token")
            }
            return (status, changes: [])
        }
    }

    static func place(_ name: String) -> String { "provider token \(name)" }

    private static func token(
        _ name: String, _ connection: any SQLConnection, _ sealer: Sealer
    ) throws -> ProviderToken? {
        try connection.rows(Statements.token, [.text(name)]).first.map { row in
            let text = String(decoding: try sealer.open(try row.blob(0), for: place(name)), as: UTF8.self)
            return ProviderToken(text: Secret(text), issuedAt: try row.time(1))
        }
    }
}
