public import CountersignCore
public import CountersignWire
import Crypto
import Encodings
import OpenPGP

private enum Statements {
    static let read = SQLStatement("SELECT sealed, certificate FROM secrets WHERE name = $1")
    static let insert = SQLStatement(
        "INSERT INTO secrets (name, sealed, certificate) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING")
}

/// The issuer's own keys, sealed under the master key.
extension SQLStore {
    private static let name = "issuer keys"

    /// Whether the database holds keys that only the right master key opens.
    public func hasIssuerKeys() async throws -> Bool {
        try await Self.hasIssuerKeys(engine)
    }

    static func hasIssuerKeys(_ engine: some SQLEngine) async throws -> Bool {
        try await engine.read { try !$0.rows(Statements.read, [.text(Self.name)]).isEmpty }
    }

    /// The keys, made at the first start.
    ///
    /// Of two first starts at once, both get those that were stored first.
    public func issuerKeys(at now: Timestamp) async throws -> IssuerKeyMaterial {
        if let kept = try await engine.read({ try $0.rows(Statements.read, [.text(Self.name)]).first }) {
            return try IssuerKeyMaterial(kept, sealer: sealer)
        }
        let made = try await IssuerKeyMaterial.make(issuer: issuer, at: now)
        let sealed = try sealer.seal(made.json.encoded, for: Self.name)
        let certificate = made.certificate.encoded
        let row: SQLRow? = try await engine.write { connection in
            try connection.send(Statements.insert, [.text(Self.name), .blob(sealed), .blob(certificate)])
            return (try connection.rows(Statements.read, [.text(Self.name)]).first, wakes: [])
        }
        guard let row else { throw StoreError.corruptRow(Self.name) }
        return try IssuerKeyMaterial(row, sealer: sealer)
    }
}

extension IssuerKeyMaterial {
    fileprivate var json: JSONValue {
        func secret(_ bytes: some Collection<UInt8>) -> JSONValue { .string(Base64.encode(bytes)) }
        return .members([
            "created_at": .integer(Int64(createdAt)), "primary": secret(primary.rawRepresentation),
            "signing": secret(signing.rawRepresentation), "encryption": secret(encryption.rawRepresentation),
            "push": secret(push.rawRepresentation),
        ])
    }

    fileprivate init(_ row: SQLRow, sealer: Sealer) throws {
        guard let json = try? JSONValue(parsing: try sealer.open(try row.blob(0), for: "issuer keys")) else {
            throw StoreError.corruptRow("issuer keys: is this the master key the database was made with?")
        }
        func secret(_ name: String) throws -> [UInt8] {
            guard let bytes = json[name]?.string.flatMap({ Base64.decode($0) }) else {
                throw StoreError.corruptRow("issuer keys")
            }
            return bytes
        }
        guard let createdAt = json["created_at"]?.integer else { throw StoreError.corruptRow("issuer keys") }
        self.init(
            createdAt: UnixSeconds(clamping: createdAt),
            primary: try P256.Signing.PrivateKey(rawRepresentation: secret("primary")),
            signing: try P256.Signing.PrivateKey(rawRepresentation: secret("signing")),
            encryption: try P256.KeyAgreement.PrivateKey(rawRepresentation: secret("encryption")),
            push: try P256.Signing.PrivateKey(rawRepresentation: secret("push")),
            certificate: try Certificate(parsing: row.blob(1)))
    }
}
