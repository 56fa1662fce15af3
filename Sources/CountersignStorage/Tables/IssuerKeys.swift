import CountersignCore
import CountersignWire
import Crypto
import Encodings
import OpenPGP

private enum Statements {
    static let secret = SQLStatement("SELECT sealed, certificate FROM secrets WHERE name = 'issuer keys'")
    static let insertSecret = SQLStatement(
        """
        INSERT INTO secrets (name, sealed, certificate) VALUES ('issuer keys', $1, $2) ON CONFLICT (name) DO NOTHING
        """)
    /// On PostgreSQL, this also locks the row.
    static let putCertificate = SQLStatement(
        "UPDATE secrets SET certificate = $2 WHERE name = 'issuer keys' AND certificate = $1")
    static let keys = SQLStatement(
        """
        SELECT id, use, state, created_at, changes_at, compromised, sealed FROM signing_keys
        """)
    static let put = SQLStatement(
        """
        INSERT INTO signing_keys (id, use, algorithm, state, created_at, changes_at, compromised, sealed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, changes_at = excluded.changes_at,
          compromised = excluded.compromised
        """)
    static let delete = SQLStatement("DELETE FROM signing_keys WHERE id = $1")
}

/// The issuer's own keys: the primary key and the certificate in `secrets`, and the keys that rotate in `signing_keys`.
extension SQLTransaction {
    func issuerKeys() throws -> IssuerKeyMaterial {
        guard let kept = try keptIssuerKeys() else { throw StoreError.corruptRow(PrimaryKey.place) }
        return kept
    }

    /// Nil before the first start has created the keys.
    func keptIssuerKeys() throws -> IssuerKeyMaterial? {
        try first(Statements.secret, []) { row in
            let primary = try PrimaryKey(try row.blob(0), sealer)
            let certificate = try parsed.certificates.value(PrimaryKey.place, of: row[1..<2]) {
                guard let certificate = try? Certificate(parsing: try row.blob(1)) else {
                    throw StoreError.corruptRow(PrimaryKey.place)
                }
                return certificate
            }
            return IssuerKeyMaterial(
                createdAt: primary.createdAt, primary: primary.key, certificate: certificate,
                kept: try all(Statements.keys, []) { try IssuerKey($0, sealer) }.inOrder)
        }
    }

    /// Stores new keys, unless other keys were stored before.
    func insert(_ made: IssuerKeyMaterial) throws {
        let primary = PrimaryKey(createdAt: made.createdAt, key: made.primary)
        let inserted = try connection.execute(
            Statements.insertSecret, [.blob(try primary.sealed(by: sealer)), .blob(made.certificate.encoded)])
        guard inserted == 1 else { return }
        for key in made.kept { try put(key) }
    }

    func replaceCertificate(_ known: Certificate, by certificate: Certificate?) throws -> Bool {
        let changed = try connection.execute(
            Statements.putCertificate, [.blob(known.encoded), .blob((certificate ?? known).encoded)])
        return changed == 1
    }

    func put(_ key: IssuerKey) throws {
        let place = IssuerKey.place("\(key.id)")
        try connection.send(
            Statements.put,
            [
                key.id.value, .text(key.use.rawValue), .text(key.use.algorithm), .text(key.state.rawValue),
                key.createdAt.value, .optional(key.changesAt?.milliseconds), .integer(key.isCompromised ? 1 : 0),
                .blob(try sealer.seal(key.secret.reveal(), for: place)),
            ])
    }

    func delete(_ key: IssuerKey) throws {
        try connection.send(Statements.delete, [key.id.value])
    }
}

extension IssuerKey {
    static func place(_ id: String) -> String { "signing key \(id)" }

    fileprivate init(_ row: SQLRow, _ sealer: Sealer) throws {
        let id: IssuerKeyID = try row.id(0)
        self.init(
            id: id, use: try row.value(1) { KeyUse(rawValue: $0) },
            state: try row.value(2) { IssuerKey.State(rawValue: $0) }, createdAt: try row.time(3),
            changesAt: try row.optionalTime(4), isCompromised: try row.integer(5) == 1,
            secret: Secret(try sealer.open(try row.blob(6), for: IssuerKey.place("\(id)"))))
    }
}

extension [IssuerKey] {
    /// The keys by use, then oldest first; the ids of keys made at the same time are in no particular order.
    fileprivate var inOrder: [IssuerKey] {
        KeyUse.allCases.flatMap { use in
            filter { $0.use == use }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        }
    }
}

/// The primary key in the form in which its row holds it.
struct PrimaryKey {
    static let place = "issuer keys"

    let createdAt: UnixSeconds
    let key: P256.Signing.PrivateKey

    init(createdAt: UnixSeconds, key: P256.Signing.PrivateKey) {
        self.createdAt = createdAt
        self.key = key
    }

    init(_ sealed: [UInt8], _ sealer: Sealer) throws {
        guard let json = try? JSONValue(parsing: try sealer.open(sealed, for: Self.place)) else {
            throw StoreError.corruptRow("issuer keys: is this the master key the database was made with?")
        }
        guard let createdAt = json["created_at"]?.integer, let bytes = json["primary"]?.string.flatMap(Base64.decode),
            let primary = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
        else { throw StoreError.corruptRow(Self.place) }
        self.init(createdAt: UnixSeconds(clamping: createdAt), key: primary)
    }

    func sealed(by sealer: Sealer) throws -> [UInt8] {
        let json = JSONValue.members([
            "created_at": .integer(Int64(createdAt)), "primary": .string(Base64.encode(key.rawRepresentation)),
        ])
        return try sealer.seal(json.encoded, for: Self.place)
    }
}
