import CountersignCore
import CountersignWire
import Encodings
import RelyingPartyAPI

private enum Statements {
    static let columns =
        """
        id, name, secret_hash, rights, callback_uris, waives_approval, is_operator, created_at, callback_username,
        pin_policy, device_limit, cooling_off, authenticators, notice_uri, return_uris, earlier_secret_hash,
        earlier_secret_until, disabled_at, third_party
        """
    static let byID = SQLStatement("SELECT \(columns) FROM clients WHERE id = $1 AND deleted_at IS NULL")
    /// A transaction that asks a challenge holds this lock until it commits, so that disabling the client either finds
    /// the challenge or comes first and prevents it.
    static let heldByID = SQLStatement("\(byID.text) FOR SHARE")
    private static let party = """
        relying_parties p ON p.client_id = c.id WHERE c.id = $1 AND c.deleted_at IS NULL
        """
    private static let columnsWithParty = "\(columns.qualified(by: "c")), p.settings"
    static let withParty = SQLStatement("SELECT \(columnsWithParty) FROM clients c LEFT JOIN \(party)")
    static let usingProvider = SQLStatement("SELECT \(columnsWithParty) FROM clients c JOIN \(party)")
    /// Of both rows, what it reads after it has waited for one of them is the newest.
    static let heldUsingProvider = SQLStatement("\(usingProvider.text) FOR SHARE")
    static let asking = SQLStatement(
        """
        SELECT \(columns), (SELECT settings FROM challenge_types WHERE name = $2) FROM clients
        WHERE id = $1 AND deleted_at IS NULL
        """)
    static let heldAsking = SQLStatement("\(asking.text) FOR SHARE")
    static let all = SQLStatement("SELECT \(columns) FROM clients WHERE deleted_at IS NULL ORDER BY id")
    static let deleted = SQLStatement("SELECT id FROM clients WHERE deleted_at IS NOT NULL")
    /// Reads no client whole, and every row at worst: there are as many as an operator has set up.
    static let ofVendor = SQLStatement(
        """
        SELECT 1 FROM clients WHERE deleted_at IS NULL AND disabled_at IS NULL AND ' ' || rights || ' ' LIKE $1 LIMIT 1
        """)
    static let theOperator = SQLStatement("SELECT \(columns) FROM clients WHERE is_operator = 1")
    static let insert = SQLStatement(
        """
        INSERT INTO clients (\(columns), callback_secret)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
        """)
    static let update = SQLStatement(
        """
        UPDATE clients SET name = COALESCE($2, name), rights = COALESCE($3, rights),
          callback_uris = COALESCE($4, callback_uris), waives_approval = COALESCE($5, waives_approval),
          pin_policy = COALESCE($6, pin_policy), cooling_off = COALESCE($7, cooling_off),
          authenticators = COALESCE($8, authenticators), return_uris = COALESCE($9, return_uris)
        WHERE id = $1
        """)
    /// Rights and vendors stand in one column, so that whoever changes one of them reads both first.
    static let rights = SQLStatement("SELECT rights FROM clients WHERE id = $1")
    static let heldRights = SQLStatement("\(rights.text) FOR NO KEY UPDATE")
    static let renewSecret = SQLStatement(
        """
        UPDATE clients SET earlier_secret_hash = secret_hash, earlier_secret_until = $3, secret_hash = $2 WHERE id = $1
        """)
    static let disable = SQLStatement("UPDATE clients SET disabled_at = $2 WHERE id = $1")
    /// Keeps what other rows refer to: the name, and the PIN rules for the devices that the client enrolled.
    static let delete = SQLStatement(
        """
        UPDATE clients SET deleted_at = $2, secret_hash = NULL, earlier_secret_hash = NULL, callback_secret = NULL,
          earlier_callback_secret = NULL, callback_username = NULL, callback_password = NULL, callback_uris = '',
          return_uris = NULL, notice_uri = NULL, authenticators = NULL, rights = ''
        WHERE id = $1
        """)
    static let limit = SQLStatement("UPDATE clients SET device_limit = $2 WHERE id = $1")
    static let notices = SQLStatement("UPDATE clients SET notice_uri = $2 WHERE id = $1")
    static let token = SQLStatement("SELECT hash, expires_at FROM bootstrap_tokens WHERE slot = 1")
    static let putToken = SQLStatement(
        """
        INSERT INTO bootstrap_tokens (slot, hash, expires_at) VALUES (1, $1, $2)
        ON CONFLICT (slot) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at
        """)
    static let type = SQLStatement("SELECT name, settings FROM challenge_types WHERE name = $1")
    static let typeLocked = SQLStatement("\(type.text) FOR UPDATE")
    static let types = SQLStatement("SELECT name, settings FROM challenge_types ORDER BY name")
    static let putType = SQLStatement(
        """
        INSERT INTO challenge_types (name, settings) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET settings = excluded.settings
        """)
    static let removeType = SQLStatement("DELETE FROM challenge_types WHERE name = $1")
}

/// Clients, the bootstrap token and challenge types.
extension SQLTransaction {
    func find(_ id: ClientID) throws -> Client? {
        try first(Statements.byID, [id.value]) { try client(id, $0) }
    }

    func findWithParty(_ id: ClientID) throws -> (client: Client, party: RelyingParty?)? {
        try first(Statements.withParty, [id.value]) { row in
            (try client(id, row), try row.optionalText(19).map { _ in try party(id, row, at: 19) })
        }
    }

    func lock(_ id: ClientID) throws -> Client? {
        try first(locksRows ? Statements.heldByID : Statements.byID, [id.value]) { try client(id, $0) }
    }

    func lockWithParty(_ id: ClientID) throws -> (client: Client, party: RelyingParty)? {
        try first(locksRows ? Statements.heldUsingProvider : Statements.usingProvider, [id.value]) { row in
            (try client(id, row), try party(id, row, at: 19))
        }
    }

    func find(_ id: ClientID, asking type: TypeName) throws -> (client: Client, type: ChallengeType?)? {
        try client(id, asking: type, Statements.asking)
    }

    func lock(_ id: ClientID, asking type: TypeName) throws -> (client: Client, type: ChallengeType?)? {
        try client(id, asking: type, locksRows ? Statements.heldAsking : Statements.asking)
    }

    private func client(
        _ id: ClientID, asking type: TypeName, _ statement: SQLStatement
    ) throws -> (client: Client, type: ChallengeType?)? {
        try first(statement, [id.value, .text("\(type)")]) { row in
            let client = try self.client(id, row)
            guard let settings = try row.optionalText(19) else { return (client, nil) }
            return (client, try self.type(SQLRow([.text("\(type)"), .text(settings)])))
        }
    }

    /// Reads the first columns.
    private func client(_ id: ClientID, _ row: SQLRow) throws -> Client {
        try parsed.clients.value(id, of: row[0..<19]) { try Client(row) }
    }

    /// Reads the columns name and settings.
    private func type(_ row: SQLRow) throws -> ChallengeType {
        try parsed.types.value(try row.text(0), of: row[0..<2]) { try ChallengeType(row) }
    }

    func deleted() throws -> [ClientID] {
        try all(Statements.deleted, []) { try $0.id(0) }
    }

    func renewSecret(of client: ClientID, to secret: SecretHash, earlierUntil: Timestamp) throws {
        try connection.send(Statements.renewSecret, [client.value, .blob(secret.bytes), earlierUntil.value])
    }

    func disable(_ client: ClientID, at time: Timestamp?) throws {
        try connection.send(Statements.disable, [client.value, .optional(time?.milliseconds)])
    }

    func delete(_ client: ClientID, at time: Timestamp) throws {
        try connection.send(Statements.delete, [client.value, time.value])
        try forgetAllGone(of: client)
    }

    func all() throws -> [Client] {
        try all(Statements.all, [], Client.init)
    }

    func operatorClient() throws -> Client? {
        try first(Statements.theOperator, [], Client.init)
    }

    func hasClient(of vendor: Vendor) throws -> Bool {
        try first(Statements.ofVendor, [.text("% \(Permissions.word(of: vendor)) %")]) { _ in true } ?? false
    }

    func insert(_ client: Client, callbackSecret: Secret<String>?) throws {
        let sealedSecret = try callbackSecret.map { try sealed(callbackSecret: $0, of: client.id) }
        try connection.send(
            Statements.insert,
            [
                client.id.value, .text(client.name.text), .optional(client.secretHash?.bytes),
                .text(Permissions(rights: client.rights, vendors: client.vendors).text),
                .text(client.callbackURIs.text),
                .integer(client.waivesEnrollmentApproval ? 1 : 0),
                .integer(client.isOperator ? 1 : 0), client.createdAt.value, .optional(client.callbackUsername),
                .text(client.pinPolicy.json.text),
                .optional(client.deviceLimit?.json.text), .integer(client.coolingOff.value),
                .text(client.authenticators.text), .optional(client.noticeURI?.description),
                .text(client.returnURIs.text), .optional(client.earlierSecret?.hash.bytes),
                .optional(client.earlierSecret?.until.milliseconds), .optional(client.disabledAt?.milliseconds),
                .integer(client.isThirdParty ? 1 : 0), .optional(sealedSecret),
            ])
    }

    func update(_ client: ClientID, _ changes: ClientChanges) throws {
        try connection.send(
            Statements.update,
            [
                client.value, .optional(changes.name?.text),
                .optional(try permissions(of: client, after: changes)?.text),
                .optional(changes.callbackURIs?.text), .optional(changes.waivesEnrollmentApproval.map { $0 ? 1 : 0 }),
                .optional(changes.pinPolicy?.json.text), .optional(changes.coolingOff?.value),
                .optional(changes.authenticators?.text), .optional(changes.returnURIs?.text),
            ])
        if let limit = changes.devices.replacement {
            try connection.send(Statements.limit, [client.value, .optional(limit?.json.text)])
        }
        if let uri = changes.notices.replacement {
            try connection.send(Statements.notices, [client.value, .optional(uri?.description)])
        }
        if let credentials = changes.basic.replacement { try put(credentials, of: client) }
    }

    /// What a client may do after changes; nil where they change nothing of it.
    private func permissions(of client: ClientID, after changes: ClientChanges) throws -> Permissions? {
        guard changes.rights != nil || changes.vendors != nil else { return nil }
        let statement = locksRows ? Statements.heldRights : Statements.rights
        return try first(statement, [client.value]) { row in
            var permissions = Permissions(try row.text(0))
            if let rights = changes.rights { permissions.rights = rights }
            if let vendors = changes.vendors { permissions.vendors = vendors }
            return permissions
        }
    }

    func bootstrapToken() throws -> BootstrapToken? {
        try first(Statements.token, []) { row in
            BootstrapToken(hash: SecretHash(stored: try row.blob(0)), expiresAt: try row.time(1))
        }
    }

    func put(_ token: BootstrapToken) throws {
        try connection.send(Statements.putToken, [.blob(token.hash.bytes), token.expiresAt.value])
    }

    func find(_ name: TypeName) throws -> ChallengeType? {
        try first(Statements.type, [.text("\(name)")], type)
    }

    func lock(_ name: TypeName) throws -> ChallengeType? {
        try first(locksRows ? Statements.typeLocked : Statements.type, [.text("\(name)")], type)
    }

    func all() throws -> [ChallengeType] {
        try all(Statements.types, [], ChallengeType.init)
    }

    func put(_ type: ChallengeType) throws {
        let settings = type.json.text
        try connection.send(Statements.putType, [.text("\(type.name)"), .text(settings)])
    }

    func delete(_ name: TypeName) throws -> Bool {
        try connection.execute(Statements.removeType, [.text("\(name)")]) == 1
    }
}

extension Client {
    fileprivate init(_ row: SQLRow) throws {
        let permissions = Permissions(try row.text(3))
        self.init(
            id: try row.id(0), name: try row.value(1) { try? ClientName($0) },
            secretHash: try row.optionalBlob(2).map(SecretHash.init(stored:)), rights: permissions.rights,
            callbackURIs: try row.text(4).split(separator: "\n").map { CallbackURI(stored: String($0)) },
            returnURIs: (try row.optionalText(14) ?? "").split(separator: "\n").map { ReturnURI(stored: String($0)) },
            noticeURI: try row.optionalText(13).map { CallbackURI(stored: $0) },
            callbackUsername: try row.optionalText(8), waivesEnrollmentApproval: try row.integer(5) == 1,
            coolingOff: Seconds(try row.integer(11)),
            pinPolicy: try row.optionalValue(9, Self.pinPolicy) ?? .standard,
            deviceLimit: try row.optionalValue(10, Self.deviceLimit),
            authenticators: try row.optionalValue(12, Self.authenticators) ?? [], vendors: permissions.vendors,
            isOperator: try row.integer(6) == 1, isThirdParty: try row.integer(18) == 1, createdAt: try row.time(7),
            earlierSecret: try Self.earlierSecret(row),
            disabledAt: try row.optionalTime(17))
    }

    private static func earlierSecret(_ row: SQLRow) throws -> EarlierSecret? {
        guard let hash = try row.optionalBlob(15), let until = try row.optionalTime(16) else { return nil }
        return EarlierSecret(hash: SecretHash(stored: hash), until: until)
    }

    private static func authenticators(_ text: String) -> [CustomAuthenticator]? {
        json(text)?.array.flatMap { all in
            try? all.map { try CustomAuthenticator($0) { CallbackURI(stored: $0) } }
        }
    }

    private static func deviceLimit(_ text: String) -> DeviceLimit? {
        json(text).flatMap { try? DeviceLimit($0) }
    }

    private static func pinPolicy(_ text: String) -> PINPolicy? {
        json(text).flatMap { try? PINPolicy($0, at: "") }
    }

    private static func json(_ text: String) -> JSONValue? { try? JSONValue(parsing: Array(text.utf8)) }
}

/// What a client may do, as the column `rights` has it: words, of which those that nobody knows count for nothing.
private struct Permissions {
    /// What a vendor's word begins with, so that it is never a right.
    private static let vendorPrefix = "vendor:"

    /// A vendor's word.
    static func word(of vendor: Vendor) -> String { vendorPrefix + vendor.rawValue }

    var rights: Set<Right>
    var vendors: Set<Vendor>

    init(rights: Set<Right>, vendors: Set<Vendor>) {
        (self.rights, self.vendors) = (rights, vendors)
    }

    init(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        rights = Set(words.compactMap { Right(rawValue: $0) })
        vendors = Set(Vendor.allCases.filter { words.contains(Self.word(of: $0)) })
    }

    var text: String {
        (rights.map(\.rawValue).sorted() + vendors.map { Self.word(of: $0) }.sorted())
            .joined(separator: " ")
    }
}

extension [ReturnURI] {
    fileprivate var text: String { map(\.description).joined(separator: "\n") }
}

extension [CallbackURI] {
    fileprivate var text: String { map(\.description).joined(separator: "\n") }
}

extension [CustomAuthenticator] {
    fileprivate var text: String { JSONValue.array(map(\.json)).text }
}

extension ChallengeType {
    fileprivate init(_ row: SQLRow) throws {
        let name = try row.value(0) { TypeName($0) }
        self = try row.value(1) { text in
            (try? JSONValue(parsing: Array(text.utf8))).flatMap { try? ChallengeType($0, name: name, isStored: true) }
                .flatMap { $0.violation == nil ? $0 : nil }
        }
    }
}
