import CountersignCore
import CountersignWire
import Encodings
import OpenPGP

private enum Statements {
    static let columns = """
        id, user_id, client_id, removed_at, removal_reason, primary_key, authentication_key, encryption_key, pin_key,
        biometric_key, device, push, created_at, wrong_pins, pin_locked_at, awaits, counts_from,
        customs, versions, suspended_at, methods_count, pin_counts_from, biometric_counts_from, confirmed_at, third_party,
        confirming_from, credential
        """
    static let byID = SQLStatement("SELECT \(columns) FROM enrollments WHERE id = $1")
    static let state = SQLStatement("SELECT removed_at, removal_reason, suspended_at FROM enrollments WHERE id = $1")
    /// While an operation approves a device or asks it something, it cannot be removed; the removal waits and then sees
    /// the result.
    static let stateLocked = SQLStatement("\(state.text) FOR SHARE")
    static let heldByID = SQLStatement("\(byID.text) FOR SHARE")
    static let hold = SQLStatement("SELECT 1 FROM enrollments WHERE id = $1 FOR NO KEY UPDATE")
    static let ofUser = SQLStatement("SELECT \(columns) FROM enrollments WHERE user_id = $1 ORDER BY id")
    static let activeOfUser = SQLStatement(
        "SELECT \(columns) FROM enrollments WHERE user_id = $1 AND removed_at IS NULL ORDER BY id")
    /// No new device can appear while these rows are locked: enrolling, asking and unlinking lock the user first, with
    /// the link.
    static let activeOfUserLocked = SQLStatement("\(activeOfUser.text) FOR SHARE")
    static let certificate = SQLStatement("SELECT certificate FROM enrollments WHERE id = $1")
    static let fingerprint = SQLStatement("SELECT 1 FROM enrollments WHERE fingerprint = $1")
    static let insert = SQLStatement(
        """
        INSERT INTO enrollments (\(columns), fingerprint, certificate)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, $9, NULL, $10, 0, NULL, $11, $12, NULL, $13, NULL, $14, NULL,
        $20, $17, $18, NULL, $19, $15, $16)
        """)
    static let thumbprint = SQLStatement("SELECT 1 FROM device_keys WHERE thumbprint = $1")
    static let ofThumbprint = SQLStatement("SELECT enrollment_id FROM device_keys WHERE thumbprint = $1")
    static let insertThumbprint = SQLStatement("INSERT INTO device_keys (thumbprint, enrollment_id) VALUES ($1, $2)")
    static let putJWKs = SQLStatement(
        "UPDATE enrollments SET credential = $2, biometric_counts_from = $3 WHERE id = $1")
    static let putPIN = SQLStatement(
        """
        UPDATE enrollments SET pin_key = $2, certificate = coalesce($3, certificate), pin_counts_from = $4,
        wrong_pins = 0, pin_locked_at = NULL WHERE id = $1
        """)
    static let putBiometric = SQLStatement(
        """
        UPDATE enrollments SET biometric_key = $2, certificate = coalesce($3, certificate), biometric_counts_from = $4
        WHERE id = $1
        """)
    static let putCustoms = SQLStatement("UPDATE enrollments SET customs = $2 WHERE id = $1")
    static let countWrongPIN = SQLStatement(
        """
        UPDATE enrollments SET wrong_pins = wrong_pins + 1
        WHERE id = $1 AND pin_key = $2 AND pin_locked_at IS NULL RETURNING wrong_pins
        """)
    static let forgetWrongPINs = SQLStatement("UPDATE enrollments SET wrong_pins = 0 WHERE id = $1")
    static let lockPIN = SQLStatement("UPDATE enrollments SET pin_locked_at = $2 WHERE id = $1")
    static let remove = SQLStatement(
        """
        UPDATE enrollments SET removed_at = $2, removal_reason = $3, push = NULL, push_token = NULL,
        confirming_from = NULL
        WHERE id = $1 AND removed_at IS NULL
        """)
    static let count = SQLStatement(
        """
        UPDATE enrollments SET awaits = NULL, counts_from = CASE WHEN counts_from > $2 THEN $2 ELSE counts_from END
        WHERE id = $1
        """)
    static let countMethods = SQLStatement(
        """
        UPDATE enrollments SET methods_count = 1,
        pin_counts_from = CASE WHEN pin_counts_from > $2 THEN $2 ELSE pin_counts_from END,
        biometric_counts_from = CASE WHEN biometric_counts_from > $2 THEN $2 ELSE biometric_counts_from END
        WHERE id = $1
        """)
    static let confirm = SQLStatement(
        "UPDATE enrollments SET confirmed_at = $2, confirming_from = NULL WHERE id = $1")
    static let confirmFrom = SQLStatement("UPDATE enrollments SET confirming_from = $2 WHERE id = $1")
    static let confirming = SQLStatement(
        "SELECT id FROM enrollments WHERE confirming_from <= $1 ORDER BY confirming_from LIMIT $2")
    static let suspend = SQLStatement("UPDATE enrollments SET suspended_at = $2 WHERE id = $1")
    static let putDevice = SQLStatement("UPDATE enrollments SET device = $2 WHERE id = $1")
    static let putVersions = SQLStatement("UPDATE enrollments SET versions = $2 WHERE id = $1")
    static let push = SQLStatement("SELECT push, push_token FROM enrollments WHERE id = $1 AND push IS NOT NULL")
    static let removePush = SQLStatement(
        "UPDATE enrollments SET push = NULL, push_token = NULL WHERE id = $1 AND push = $2")
    static let putPush = SQLStatement("UPDATE enrollments SET push = $2, push_token = $3 WHERE id = $1")
    static let ticket = SQLStatement(
        """
        SELECT hash, user_id, client_id, enrollment_id, waives_approval, expires_at, spent_at, family_id
        FROM tickets WHERE hash = $1
        """)
    static let insertTicket = SQLStatement(
        """
        INSERT INTO tickets (hash, user_id, client_id, enrollment_id, waives_approval, expires_at, family_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """)
    static let spendTicket = SQLStatement(
        "UPDATE tickets SET spent_at = $2 WHERE hash = $1 AND spent_at IS NULL")
    /// One that follows a sign-in stays, so that it is not given twice; it ends with the tokens of that.
    static let deleteTickets = SQLStatement(
        "DELETE FROM tickets WHERE client_id = $1 AND spent_at IS NULL AND family_id IS NULL")
    static let nonce = SQLStatement("SELECT 1 FROM nonces WHERE key_id = $1 AND nonce = $2")
    static let spendNonce = SQLStatement(
        "INSERT INTO nonces (key_id, nonce, expires_at) VALUES ($1, $2, $3) ON CONFLICT (key_id, nonce) DO NOTHING")
}

/// Enrollments, tickets and the nonces of devices' requests.
extension SQLTransaction {
    /// The columns from which an enrollment is read, of a table that is joined with others.
    static func enrollmentColumns(of table: String) -> String { Statements.columns.qualified(by: table) }

    func find(_ id: EnrollmentID) throws -> Enrollment? {
        try first(Statements.byID, [id.value], enrollment)
    }

    func findHeld(_ id: EnrollmentID) throws -> Enrollment? {
        try first(locksRows ? Statements.heldByID : Statements.byID, [id.value], enrollment)
    }

    func state(_ id: EnrollmentID) throws -> Enrollment.State? {
        try first(locksRows ? Statements.stateLocked : Statements.state, [id.value]) {
            try Enrollment.State($0, at: 0, suspendedAt: 2)
        }
    }

    func all(of user: UserID) throws -> [Enrollment] {
        try all(Statements.ofUser, [user.value], enrollment)
    }

    func active(of user: UserID) throws -> [Enrollment] {
        try all(
            locksRows ? Statements.activeOfUserLocked : Statements.activeOfUser, [user.value], enrollment)
    }

    func certificate(of enrollment: EnrollmentID) throws -> [UInt8]? {
        try first(Statements.certificate, [enrollment.value]) { try $0.blob(0) }
    }

    func isEnrolled(_ fingerprint: Fingerprint) throws -> Bool {
        try first(Statements.fingerprint, [.blob(fingerprint.bytes)]) { _ in true } ?? false
    }

    func isEnrolled(thumbprint: [UInt8]) throws -> Bool {
        try first(Statements.thumbprint, [.blob(thumbprint)]) { _ in true } ?? false
    }

    func find(thumbprint: [UInt8]) throws -> EnrollmentID? {
        try first(Statements.ofThumbprint, [.blob(thumbprint)]) { try $0.id(0) }
    }

    func insert(_ enrollment: Enrollment, certificate: [UInt8]) throws {
        let keys = enrollment.keys
        try connection.send(
            Statements.insert,
            [
                enrollment.id.value, enrollment.user.value, enrollment.client.value, .null, .null,
                // The columns of a certificate's keys are older than JWKs, and may not be NULL.
                .blob(keys?.primary.publicKey.body ?? []), .blob(keys?.authentication.publicKey.body ?? []),
                .blob(keys?.encryption.publicKey.body ?? []),
                .text(enrollment.device.json.text), enrollment.createdAt.value,
                .optional(enrollment.approval?.description), enrollment.countsFrom.value,
                .text(Self.text(of: enrollment.versions)), .integer(enrollment.methodsCount ? 1 : 0),
                .blob(enrollment.fingerprint.bytes), .blob(certificate),
                .optional(enrollment.confirmedAt?.milliseconds), .integer(enrollment.isByThirdParty ? 1 : 0),
                .optional(enrollment.jwks?.json.text), .optional(enrollment.biometric?.countsFrom.milliseconds),
            ])
        for thumbprint in enrollment.jwks?.thumbprints ?? [] {
            try connection.send(Statements.insertThumbprint, [.blob(thumbprint), enrollment.id.value])
        }
    }

    func put(
        _ keys: DeviceJWKs, adding thumbprint: [UInt8], of enrollment: EnrollmentID, countsFrom: Timestamp
    ) throws {
        try connection.send(Statements.putJWKs, [enrollment.value, .text(keys.json.text), countsFrom.value])
        try connection.send(Statements.insertThumbprint, [.blob(thumbprint), enrollment.value])
    }

    func count(_ enrollment: EnrollmentID, from time: Timestamp) throws {
        try connection.send(Statements.count, [enrollment.value, time.value])
    }

    func count(of enrollment: EnrollmentID, from time: Timestamp) throws {
        try connection.send(Statements.countMethods, [enrollment.value, time.value])
    }

    func confirm(_ enrollment: EnrollmentID, at time: Timestamp?) throws {
        try connection.send(Statements.confirm, [enrollment.value, .optional(time?.milliseconds)])
    }

    func confirm(_ enrollment: EnrollmentID, from time: Timestamp?) throws {
        try connection.send(Statements.confirmFrom, [enrollment.value, .optional(time?.milliseconds)])
    }

    func confirming(by now: Timestamp, limit: Int) throws -> [EnrollmentID] {
        try all(Statements.confirming, [now.value, .integer(Int64(limit))]) { try $0.id(0) }
    }

    func suspend(_ enrollment: EnrollmentID, since time: Timestamp?) throws {
        try connection.send(Statements.suspend, [enrollment.value, .optional(time?.milliseconds)])
    }

    func put(_ device: DeviceDescription, of enrollment: EnrollmentID) throws {
        try connection.send(Statements.putDevice, [enrollment.value, .text(device.json.text)])
    }

    func put(_ versions: [Int64], of enrollment: EnrollmentID) throws {
        try connection.send(Statements.putVersions, [enrollment.value, .text(Self.text(of: versions))])
    }

    func lock(_ enrollment: EnrollmentID) throws {
        if locksRows { _ = try connection.rows(Statements.hold, [enrollment.value]) }
    }

    func put(
        _ key: CertifiedKey?, for method: AnswerMethod, of enrollment: EnrollmentID, certificate: [UInt8]?,
        countsFrom: Timestamp
    ) throws {
        let statement =
            switch method {
            case .confirm, .custom: preconditionFailure("the primary key stays")
            case .pin: Statements.putPIN
            case .biometric: Statements.putBiometric
            }
        try connection.send(
            statement,
            [
                enrollment.value, .optional(key?.publicKey.body), .optional(certificate),
                key == nil ? .null : countsFrom.value,
            ])
    }

    func put(_ customs: [AuthenticatorName: EnrolledCustom], of enrollment: EnrollmentID) throws {
        var object = JSONObject()
        for (name, custom) in customs.sorted(by: { $0.key < $1.key }) {
            object["\(name)"] = .array([
                .integer(Int64(custom.tried)), .integer(custom.countsFrom.milliseconds),
                custom.triedAt.map { .integer($0.milliseconds) } ?? .null,
            ])
        }
        try connection.send(
            Statements.putCustoms, [enrollment.value, customs.isEmpty ? .null : .text(JSONValue.object(object).text)])
    }

    func countWrongPIN(_ key: CertifiedKey, of enrollment: EnrollmentID) throws -> Int? {
        try first(Statements.countWrongPIN, [enrollment.value, .blob(key.publicKey.body)]) { Int(try $0.integer(0)) }
    }

    func forgetWrongPINs(of enrollment: EnrollmentID) throws {
        try connection.send(Statements.forgetWrongPINs, [enrollment.value])
    }

    func lockPIN(of enrollment: EnrollmentID, at time: Timestamp) throws {
        try connection.send(Statements.lockPIN, [enrollment.value, time.value])
    }

    func put(_ push: PushRegistration, of enrollment: EnrollmentID, at time: Timestamp) throws {
        let target = PushTarget(service: push.service, app: push.app, registeredAt: time)
        let token = try sealer.seal(Array(push.token.reveal().utf8), for: PushTarget.place(enrollment))
        try connection.send(Statements.putPush, [enrollment.value, .text(target.json.text), .blob(token)])
    }

    func delete(of enrollment: EnrollmentID) throws {
        try connection.send(Statements.putPush, [enrollment.value, .null, .null])
    }

    func delete(_ push: PushTarget, of enrollment: EnrollmentID) throws {
        try connection.send(Statements.removePush, [enrollment.value, .text(push.json.text)])
    }

    func find(of enrollment: EnrollmentID) throws -> RegisteredPush? {
        try first(Statements.push, [enrollment.value]) { try registeredPush($0, at: 0, of: enrollment) }
    }

    /// Reads two adjacent columns: the target and the sealed token.
    func registeredPush(_ row: SQLRow, at column: Int, of enrollment: EnrollmentID) throws -> RegisteredPush {
        let target = try row.value(column, PushTarget.init)
        let token = try sealer.open(try row.blob(column + 1), for: PushTarget.place(enrollment))
        guard
            let registration = PushRegistration(
                service: target.service, app: target.app, token: Secret(String(decoding: token, as: UTF8.self)))
        else { throw StoreError.corruptRow("push token") }
        return RegisteredPush(registration: registration, at: target.registeredAt)
    }

    func remove(_ enrollment: EnrollmentID, reason: RemovalReason, at time: Timestamp) throws -> Bool {
        try connection.execute(Statements.remove, [enrollment.value, time.value, .text(reason.rawValue)]) == 1
    }

    func find(_ hash: SecretHash) throws -> Ticket? {
        try first(Statements.ticket, [.blob(hash.bytes)]) { row in
            Ticket(
                hash: SecretHash(stored: try row.blob(0)), user: try row.id(1), client: try row.id(2),
                family: try row.optionalID(7), enrollment: try row.id(3), waivesApproval: try row.integer(4) == 1,
                expiresAt: try row.time(5),
                spentAt: try row.optionalTime(6))
        }
    }

    func insert(_ ticket: Ticket) throws {
        try connection.send(
            Statements.insertTicket,
            [
                .blob(ticket.hash.bytes), ticket.user.value, ticket.client.value, ticket.enrollment.value,
                .integer(ticket.waivesApproval ? 1 : 0), ticket.expiresAt.value,
                .optional(ticket.family?.description),
            ])
    }

    func spend(_ ticket: SecretHash, at time: Timestamp) throws -> Bool {
        try connection.execute(Statements.spendTicket, [.blob(ticket.bytes), time.value]) == 1
    }

    func deleteTickets(of client: ClientID) throws {
        try connection.send(Statements.deleteTickets, [client.value])
    }

    func isSpent(nonce: String, of keyID: String) throws -> Bool {
        try first(Statements.nonce, [.text(keyID), .text(nonce)]) { _ in true } ?? false
    }

    func spend(nonce: String, of keyID: String, until: Timestamp) throws -> Bool {
        try connection.execute(Statements.spendNonce, [.text(keyID), .text(nonce), until.value]) == 1
    }
}

extension Enrollment.State {
    fileprivate init(_ row: SQLRow, at column: Int, suspendedAt: Int) throws {
        if let time = try row.optionalTime(column) {
            self = .removed(try row.value(column + 1) { RemovalReason(rawValue: $0) }, at: time)
        } else if let time = try row.optionalTime(suspendedAt) {
            self = .suspended(since: time)
        } else {
            self = .active
        }
    }
}

/// Conversions from rows.
extension SQLTransaction {
    func enrollment(_ row: SQLRow) throws -> Enrollment {
        let id: EnrollmentID = try row.id(0)
        let device = try parsed.devices.value(id, of: row[5..<12] + row[26..<27]) { try Self.device(row) }
        let pin = try device.pin.map { key in
            EnrolledPIN(
                key: key, wrongCount: Int(try row.integer(13)), lockedAt: try row.optionalTime(14),
                countsFrom: try row.time(21))
        }
        let (credential, biometric) = try Self.biometric(of: device, row)
        return Enrollment(
            id: id, user: try row.id(1), client: try row.id(2),
            state: try Enrollment.State(row, at: 3, suspendedAt: 19), credential: credential,
            device: device.description, versions: try row.value(18, Self.versions), pin: pin, biometric: biometric,
            customs: try row.optionalValue(17, Self.customs) ?? [:], push: device.push,
            createdAt: try row.time(12), countsFrom: try row.time(16), methodsCount: try row.integer(20) == 1,
            approval: try row.optionalID(15), confirmedAt: try row.optionalTime(23),
            confirmingFrom: try row.optionalTime(25), isByThirdParty: try row.integer(24) == 1)
    }

    /// The credential of a device, and the key that its user's biometrics unlock.
    ///
    /// Such a key among JWKs is there as long as the time is from which it counts: when the method is undone, that time
    /// goes.
    private static func biometric(
        of device: ParsedRows.Device, _ row: SQLRow
    ) throws -> (Credential, EnrolledBiometric?) {
        switch device.credential {
        case .openPGP:
            let biometric = try device.biometric.map { EnrolledBiometric(key: $0, countsFrom: try row.time(22)) }
            return (device.credential, biometric)
        case .jwk(let keys):
            guard keys.userVerification != nil, let time = try row.optionalTime(22) else {
                return (.jwk(keys.withoutUserVerification), nil)
            }
            return (device.credential, EnrolledBiometric(key: nil, countsFrom: time))
        }
    }

    private static func text(of versions: [Int64]) -> String { versions.map(String.init).joined(separator: " ") }

    private static func versions(_ text: String) -> [Int64]? {
        let versions = text.split(separator: " ").map { Int64($0) }
        return versions.contains(nil) ? nil : versions.compactMap { $0 }
    }

    /// Reads each custom authenticator's count of tries, the time from which it counts, and the time of the last try.
    private static func customs(_ text: String) -> [AuthenticatorName: EnrolledCustom]? {
        guard let members = (try? JSONValue(parsing: Array(text.utf8)))?.object?.members else { return nil }
        var customs: [AuthenticatorName: EnrolledCustom] = [:]
        for member in members {
            guard let name = AuthenticatorName(member.name), let values = member.value.array, values.count == 3,
                let tried = values[0].integer, let countsFrom = values[1].integer
            else { return nil }
            customs[name] = EnrolledCustom(
                tried: Int(clamping: tried), triedAt: values[2].integer.map { Timestamp(milliseconds: $0) },
                countsFrom: Timestamp(milliseconds: countsFrom))
        }
        return customs
    }

    /// Reads the columns that rarely change.
    private static func device(_ row: SQLRow) throws -> ParsedRows.Device {
        func key(_ bytes: [UInt8], _ flags: KeyFlags) throws -> CertifiedKey {
            guard let publicKey = try? PublicKey(parsing: bytes) else { throw StoreError.corruptRow("enrollment key") }
            return CertifiedKey(previouslyCertified: publicKey, flags: flags)
        }
        let credential: Credential
        if let text = try row.optionalText(26) {
            guard let keys = (try? JSONValue(parsing: Array(text.utf8))).flatMap({ DeviceJWKs($0) }) else {
                throw StoreError.corruptRow("enrollment JWKs")
            }
            credential = .jwk(keys)
        } else {
            credential = .openPGP(
                DeviceKeys(
                    primary: try key(row.blob(5), [.certify, .sign]),
                    authentication: try key(row.blob(6), .authenticate),
                    encryption: try key(row.blob(7), .encrypt)))
        }
        let description = try row.value(10) { text in
            (try? JSONValue(parsing: Array(text.utf8))).flatMap { try? DeviceDescription($0, at: "") }
        }
        let pin = try row.optionalBlob(8).map { try key($0, .sign) }
        let biometric = try row.optionalBlob(9).map { try key($0, .sign) }
        return (credential, pin, biometric, description, try row.optionalValue(11, PushTarget.init))
    }
}

/// The form in which a column holds it; the token is sealed in a column of its own.
extension PushTarget {
    static func place(_ enrollment: some CustomStringConvertible) -> String { "push token \(enrollment)" }

    fileprivate var json: JSONValue {
        .members([
            "service": .string(service.name), "environment": service.environment.map { .string($0.rawValue) },
            "app": .string("\(app)"), "registered_at": .integer(registeredAt.milliseconds),
        ])
    }

    fileprivate init?(_ text: String) {
        guard let json = try? JSONValue(parsing: Array(text.utf8)),
            let app = json["app"]?.string.flatMap({ AppID($0) }),
            let time = json["registered_at"]?.integer,
            let service = PushService(
                name: json["service"]?.string ?? "",
                environment: json["environment"]?.string.flatMap(APNsEnvironment.init(rawValue:)))
        else { return nil }
        self.init(service: service, app: app, registeredAt: Timestamp(milliseconds: time))
    }
}
