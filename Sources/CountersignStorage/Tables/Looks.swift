import CountersignCore
import CountersignWire

private enum Statements {
    static let ofClient = SQLStatement(
        "SELECT accent, accent_dark, logo_hash, logo_width, logo_height FROM looks WHERE client_id = $1")
    /// Several clients may have one logo.
    static let logo = SQLStatement("SELECT logo FROM looks WHERE logo_hash = $1 LIMIT 1")
    static let put = SQLStatement(
        """
        INSERT INTO looks (client_id, accent, accent_dark, logo_hash, logo_width, logo_height, logo)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (client_id) DO UPDATE SET accent = excluded.accent, accent_dark = excluded.accent_dark,
          logo_hash = excluded.logo_hash, logo_width = excluded.logo_width, logo_height = excluded.logo_height,
          logo = excluded.logo
        """)
    static let remove = SQLStatement("DELETE FROM looks WHERE client_id = $1")
}

/// What clients replace on their pages.
extension SQLTransaction {
    func find(_ client: ClientID) throws -> Look? {
        try first(Statements.ofClient, [client.value]) { row in
            Look(logo: try Self.picture(row), accent: try Self.accent(row))
        }
    }

    /// Reads the columns accent and accent_dark; nil also where the panels of this version are others, on which the
    /// colour is hard to read.
    private static func accent(_ row: SQLRow) throws -> Accent? {
        let (light, dark) = (try row.optionalValue(0) { Colour($0) }, try row.optionalValue(1) { Colour($0) })
        return light.flatMap { try? Accent(light: $0, dark: dark) }
    }

    /// Reads the columns of the logo but its bytes.
    private static func picture(_ row: SQLRow) throws -> Look.Picture? {
        guard let hash = try row.optionalBlob(2) else { return nil }
        return Look.Picture(
            hash: LogoHash(stored: hash), width: Int(try row.integer(3)), height: Int(try row.integer(4)))
    }

    func logo(_ hash: LogoHash) throws -> [UInt8]? {
        try first(Statements.logo, [.blob(hash.bytes)]) { try $0.blob(0) }
    }

    func put(_ look: Look, of client: ClientID, logo: [UInt8]?) throws {
        try connection.send(
            Statements.put,
            [
                client.value, .optional(look.accent?.light.description),
                .optional(look.accent?.dark?.description), .optional(look.logo?.hash.bytes),
                .optional(look.logo.map { Int64($0.width) }), .optional(look.logo.map { Int64($0.height) }),
                .optional(logo),
            ])
    }

    func removeLook(of client: ClientID) throws -> Bool {
        try connection.execute(Statements.remove, [client.value]) == 1
    }
}
