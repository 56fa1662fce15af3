import CountersignCore
import CountersignWire
import Encodings
import OpenPGP

private enum Statements {
    static let columns = """
        id, client_id, client_name, user_id, type, nonce, context, asked_at, details, signing_data, message, alert,
        methods, number_hash, expires_at, callback_uri, client_state, locale, state, reason, method, decided_by,
        ended_at, channel, claimed_at, purpose, new_device_id, browser, attempts, return_uri,
        authorization_id
        """
    /// How many columns these are, before those of a joined table.
    static let count = 31
    /// The columns of a table that is joined with others.
    static func columns(of table: String) -> String { columns.qualified(by: table) }
    static let byID = SQLStatement("SELECT \(columns) FROM challenges WHERE id = $1")
    static let insert = SQLStatement(
        """
        INSERT INTO challenges (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
        $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)
        """)
    static let insertTarget = SQLStatement(
        "INSERT INTO challenge_targets (challenge_id, enrollment_id) VALUES ($1, $2)")
    /// One row for each recent ask down to the last that was approved, or one without an ask; the lock and the count of
    /// open challenges in each.
    ///
    /// Asks are dated to the second, so others can have the time of the approved one: the limits decide which count.
    ///
    /// `|| ''` keeps the planner from using the index on user and client, which covers all of the user's challenges,
    /// instead of the index on the user's few pending ones.
    static let asks = SQLStatement(
        """
        SELECT (SELECT count(*) FROM asking_locks WHERE user_id = $1 AND client_id = $2),
          (SELECT count(*) FROM (SELECT 1 AS one FROM challenges
          WHERE user_id = $1 AND state = 'pending' AND client_id || '' = $2 AND expires_at > $3 AND channel <> 'code'
          AND purpose = 'relying_party' LIMIT $4) AS open),
          recent.asked_at, recent.state, recent.ended_at
        FROM (SELECT 1 AS one) AS facts LEFT JOIN (SELECT asked_at, state, ended_at FROM challenges
          WHERE user_id = $1 AND client_id = $2 AND channel <> 'code' AND purpose = 'relying_party'
          AND asked_at >= coalesce((SELECT asked_at FROM challenges WHERE user_id = $1 AND client_id = $2
            AND asked_at > $5 AND state = 'approved' AND channel <> 'code' AND purpose = 'relying_party'
            ORDER BY asked_at DESC LIMIT 1), $5 + 1)
          ORDER BY asked_at DESC LIMIT $6) AS recent ON recent.asked_at > $5
        ORDER BY recent.asked_at DESC
        """)
    /// Runs only when a client is disabled or deleted, so it reads all pending challenges by the index of those that expire,
    /// which spares every challenge an index of its own.
    static let openOfClient = SQLStatement(
        """
        SELECT id FROM challenges WHERE state = 'pending' AND expires_at > 0 AND client_id || '' = $1
        AND purpose <> 'new_device' ORDER BY expires_at LIMIT $2
        """)
    static let openBetween = SQLStatement(
        """
        SELECT id FROM challenges WHERE user_id = $2 AND state = 'pending' AND client_id || '' = $1
        AND purpose <> 'new_device' ORDER BY id
        """)
    static let target = SQLStatement(
        "SELECT fetched_at FROM challenge_targets WHERE challenge_id = $1 AND enrollment_id = $2")
    static let targets = SQLStatement("SELECT enrollment_id FROM challenge_targets WHERE challenge_id = $1")
    static let deliveries = SQLStatement(
        """
        SELECT enrollment_id, push_state, push_reason, push_at, fetched_at FROM challenge_targets
        WHERE challenge_id = $1 ORDER BY enrollment_id
        """)
    static let notePush = SQLStatement(
        """
        UPDATE challenge_targets SET push_state = $3, push_reason = $4, push_at = $5
        WHERE challenge_id = $1 AND enrollment_id = $2
        """)
    static let recordFetch = SQLStatement(
        """
        UPDATE challenge_targets SET fetched_at = $3
        WHERE challenge_id = $1 AND enrollment_id = $2 AND fetched_at IS NULL
        """)
    private static func isPending(user: String, enrollment: String, now: String) -> String {
        """
        p.user_id = \(user) AND p.state = 'pending' AND p.decided_by IS NULL AND p.expires_at > \(now)
        AND EXISTS (SELECT 1 FROM challenge_targets t WHERE t.challenge_id = p.id AND t.enrollment_id = \(enrollment))
        """
    }
    /// One row for each challenge, or one without a challenge; the enrollment in each.
    static let pending = SQLStatement(
        """
        SELECT \(columns(of: "p")), \(SQLTransaction.enrollmentColumns(of: "e")) FROM enrollments e
        LEFT JOIN challenges p ON \(isPending(user: "$4", enrollment: "$1", now: "$2"))
        WHERE e.id = $1 ORDER BY p.id DESC LIMIT $3
        """)
    static let held = SQLStatement(
        """
        SELECT \(columns) FROM challenges WHERE user_id = $1 AND state = 'pending' AND decided_by = $2
        AND expires_at > $3
        """)
    static let announced = SQLStatement(
        """
        SELECT \(columns), e.push, e.push_token, (SELECT count(*) FROM (SELECT 1 AS one FROM challenges p
          WHERE \(isPending(user: "c.user_id", enrollment: "$2", now: "$3")) AND p.purpose <> 'own_sign_in'
          LIMIT $4) AS pending), e.credential
        FROM challenges c,
          (SELECT push, push_token, credential FROM enrollments WHERE id = $2 AND push IS NOT NULL) e
        WHERE id = $1
        """)
    /// `|| ''` keeps the planner from using an index on all pending challenges instead of the user's own.
    static let openOfUser = SQLStatement(
        "SELECT \(columns) FROM challenges WHERE user_id = $1 AND state || '' = 'pending' ORDER BY id")
    static let overdue = SQLStatement(
        "SELECT id FROM challenges WHERE state = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT $2")
    /// Ends a challenge, and so decides every race between outcomes.
    ///
    /// The conditions repeat those of the operation. A challenge that a device has approved and that waits for its
    /// return code can only be approved by that code, cancelled, or fail because the device was removed or suspended;
    /// no other answer counts.
    static let end = SQLStatement(
        """
        UPDATE challenges SET state = $2, reason = $3, method = $4, decided_by = $5, ended_at = $6, number_hash = NULL
        WHERE id = $1 AND state = 'pending' AND expires_at > $6
        AND (decided_by IS NULL OR $2 IN ('approved', 'cancelled') OR $3 IN ('device_removed', 'device_suspended'))
        """)
    /// Decides which approval waits for its return code.
    static let hold = SQLStatement(
        """
        UPDATE challenges SET method = $2, decided_by = $3, expires_at = $4, number_hash = NULL
        WHERE id = $1 AND state = 'pending' AND expires_at > $5 AND decided_by IS NULL
        """)
    /// Decides which user's device claims a challenge by its code.
    static let claim = SQLStatement(
        """
        UPDATE challenges SET user_id = $2, claimed_at = $3 WHERE id = $1 AND state = 'pending' AND expires_at > $3
        AND channel = 'code' AND claimed_at IS NULL AND (user_id IS NULL OR user_id = $2)
        """)
    static let expire = SQLStatement(
        """
        UPDATE challenges SET state = $2, ended_at = $3, method = NULL, decided_by = NULL, number_hash = NULL
        WHERE id = $1 AND state = 'pending' AND expires_at <= $3
        """)
    static let insertReceipt = SQLStatement(
        """
        INSERT INTO receipts (challenge_id, enrollment_id, text, signature, certificate, accepted_at, client_id, kind)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """)
    static let removeReceipt = SQLStatement("DELETE FROM receipts WHERE challenge_id = $1")
    static let receiptColumns =
        "r.enrollment_id, r.text, r.signature, r.certificate, r.accepted_at, r.client_id, r.kind"
    static let receipt = SQLStatement("SELECT \(receiptColumns) FROM receipts r WHERE r.challenge_id = $1")
    static let withReceipt = SQLStatement(
        """
        SELECT \(columns(of: "c")), \(receiptColumns) FROM challenges c LEFT JOIN receipts r ON r.challenge_id = c.id
        WHERE c.id = $1
        """)
    /// A challenge with what a device that answers it needs: whether it was put to the device, and whether the same
    /// answer was recorded before.
    private static let answeringColumns =
        "\(columns(of: "c")), t.enrollment_id, t.fetched_at, a.challenge_id, a.state, a.reason, a.custom"
    /// How many columns these are.
    static let answeringCount = count + 6
    static let answering = SQLStatement(
        """
        SELECT \(answeringColumns) FROM challenges c
        LEFT JOIN challenge_targets t ON t.challenge_id = c.id AND t.enrollment_id = $2
        LEFT JOIN answers a ON a.enrollment_id = $2 AND a.digest = $3 WHERE c.id = $1
        """)
    /// The same in the row of the device, with or without a challenge.
    static let answeringDevice = SQLStatement(
        """
        SELECT \(answeringColumns), e.certificate, \(SQLTransaction.enrollmentColumns(of: "e")) FROM enrollments e
        LEFT JOIN challenges c ON c.id = $1
        LEFT JOIN challenge_targets t ON t.challenge_id = c.id AND t.enrollment_id = e.id
        LEFT JOIN answers a ON a.enrollment_id = e.id AND a.digest = $3 WHERE e.id = $2
        """)
    static let insertAnswer = SQLStatement(
        """
        INSERT INTO answers (enrollment_id, digest, challenge_id, state, reason, answered_at, custom)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """)
    static let answer = SQLStatement(
        "SELECT challenge_id, state, reason, custom FROM answers WHERE enrollment_id = $1 AND digest = $2")
}

/// Challenges, their target devices, answers and receipts.
extension SQLTransaction {
    func find(_ id: ChallengeID) throws -> Challenge? {
        try first(Statements.byID, [id.value], challenge)
    }

    func insert(_ challenge: Challenge, targets: [EnrollmentID]) throws {
        let question = challenge.question
        let details = JSONValue.array(question.details.map(\.json))
        try connection.send(
            Statements.insert,
            [
                challenge.id.value, question.client.value, .text(question.clientName.text),
                .optional(challenge.user?.description),
                .text("\(question.type)"), .blob(question.nonce.bytes), .optional(question.context?.text),
                question.askedAt.value, .text(details.text),
                .optional(question.signingData), .text(question.message.text), .text(challenge.alert.text),
                .text(challenge.methods.map(\.rawValue).joined(separator: " ")), .optional(challenge.numberHash?.bytes),
                challenge.expiresAt.value, .optional(Self.callback(of: challenge)),
                .optional(challenge.clientState), .optional(challenge.locale?.description),
            ] + columns(of: challenge.state) + columns(of: challenge.channel) + columns(of: challenge.purpose)
                + [
                    .optional(challenge.browser?.bytes),
                    .optional(challenge.attempts.map { Int64($0) }),
                    .optional(challenge.channel.returnURI?.description),
                    .optional(challenge.purpose.authorization?.description),
                ])
        for target in targets {
            try connection.send(Statements.insertTarget, [challenge.id.value, target.value])
        }
    }

    func open(of client: ClientID, limit: Int) throws -> [ChallengeID] {
        try all(Statements.openOfClient, [client.value, .integer(Int64(limit))]) { try $0.id(0) }
    }

    func open(of client: ClientID, user: UserID) throws -> [ChallengeID] {
        try all(Statements.openBetween, [client.value, user.value]) { try $0.id(0) }
    }

    func asks(
        of user: UserID, by client: ClientID, now: Timestamp, since: Timestamp, limits: (open: Int, recent: Int)
    ) throws -> EarlierAsks {
        let rows = try connection.rows(
            Statements.asks,
            [
                user.value, client.value, now.value, .integer(Int64(limits.open)), since.value,
                .integer(Int64(limits.recent)),
            ])
        guard let first = rows.first else { throw StoreError.corruptRow("asks") }
        return EarlierAsks(
            isLocked: try first.integer(0) > 0, open: Int(try first.integer(1)),
            recent: try rows.compactMap { row in
                try row.optionalTime(2).map { RecentAsk(askedAt: $0, outcome: try Self.askOutcome(row)) }
            })
    }

    /// Reads the columns state and ended_at.
    private static func askOutcome(_ row: SQLRow) throws -> RecentAsk.Outcome {
        switch try row.text(3) {
        case "approved": .approved
        case "denied": .denied(at: try row.time(4))
        default: .other
        }
    }

    func find(of challenge: ChallengeID, enrollment: EnrollmentID) throws -> ChallengeTarget? {
        try first(Statements.target, [challenge.value, enrollment.value]) { row in
            ChallengeTarget(fetchedAt: try row.optionalTime(0))
        }
    }

    func all(of challenge: ChallengeID) throws -> [EnrollmentID] {
        try all(Statements.targets, [challenge.value]) { try $0.id(0) }
    }

    func deliveries(of challenge: ChallengeID) throws -> [Delivery] {
        try all(Statements.deliveries, [challenge.value]) { row in
            Delivery(
                enrollment: try row.id(0), push: try Self.delivery(row).map { Delivery.Push($0, at: try row.time(3)) },
                fetchedAt: try row.optionalTime(4))
        }
    }

    func record(
        _ delivery: PushDelivery, of challenge: ChallengeID, to enrollment: EnrollmentID, at time: Timestamp
    ) throws {
        let (state, reason) = delivery.words
        try connection.send(
            Statements.notePush, [challenge.value, enrollment.value, .text(state), .optional(reason), time.value])
    }

    private static func delivery(_ row: SQLRow) throws -> PushDelivery? {
        let reason = try row.optionalText(2)
        return try row.optionalValue(1) { PushDelivery(state: $0, reason: reason) }
    }

    func claim(
        _ challenge: ChallengeID, by enrollment: EnrollmentID, of user: UserID, at time: Timestamp
    ) throws -> Bool {
        guard try connection.execute(Statements.claim, [challenge.value, user.value, time.value]) == 1 else {
            return false
        }
        try connection.send(Statements.insertTarget, [challenge.value, enrollment.value])
        return true
    }

    func holdForReturn(
        _ challenge: ChallengeID, approvedBy method: AnswerMethod, on enrollment: EnrollmentID, until end: Timestamp,
        at time: Timestamp
    ) throws -> Bool {
        let arguments: [SQLValue] = [
            challenge.value, .text(method.rawValue), enrollment.value, end.value, time.value,
        ]
        return try connection.execute(Statements.hold, arguments) == 1
    }

    func recordFetch(of challenge: ChallengeID, by enrollment: EnrollmentID, at time: Timestamp) throws -> Bool {
        try connection.execute(Statements.recordFetch, [challenge.value, enrollment.value, time.value]) == 1
    }

    func pending(
        of enrollment: EnrollmentID, user: UserID, now: Timestamp, limit: Int
    ) throws -> (enrollment: Enrollment, challenges: [Challenge])? {
        let rows = try connection.rows(
            Statements.pending, [enrollment.value, now.value, .integer(Int64(limit)), user.value])
        guard let first = rows.first else { return nil }
        return (
            try self.enrollment(first.dropping(Statements.count)),
            try rows.compactMap { row in
                let id: ChallengeID? = try row.optionalID(0)
                return try id.map { _ in try challenge(row) }
            }
        )
    }

    func held(approvedBy enrollment: EnrollmentID, user: UserID, now: Timestamp) throws -> [Challenge] {
        try all(Statements.held, [user.value, enrollment.value, now.value], challenge)
    }

    func announcementFacts(
        of subjects: [AnnounceChallenge.Subject], now: Timestamp, limit: Int
    ) throws -> [AnnounceChallenge.Facts?] {
        let rows = try connection.rows(
            Statements.announced,
            each: subjects.map { [$0.challenge.value, $0.enrollment.value, now.value, .integer(Int64(limit))] })
        return try zip(subjects, rows).map { subject, rows in
            try rows.first.map { row in
                let push = try registeredPush(row, at: Statements.count, of: subject.enrollment)
                let hasJWKs = try row.optionalText(Statements.count + 3) != nil
                return AnnounceChallenge.Facts(
                    try challenge(row), to: subject.enrollment, by: push,
                    badge: Int(try row.integer(Statements.count + 2)),
                    jwkDevice: try hasJWKs ? find(subject.enrollment) : nil)
            }
        }
    }

    func open(of user: UserID) throws -> [Challenge] {
        try all(Statements.openOfUser, [user.value], challenge)
    }

    func overdue(now: Timestamp, limit: Int) throws -> [ChallengeID] {
        try all(Statements.overdue, [now.value, .integer(Int64(limit))]) { try $0.id(0) }
    }

    func end(_ challenge: ChallengeID, as outcome: ChallengeOutcome, at time: Timestamp) throws -> Bool {
        if case .expired = outcome {
            return try connection.execute(Statements.expire, [challenge.value, .text(outcome.state), time.value]) == 1
        }
        return try connection.execute(Statements.end, [challenge.value] + columns(of: .ended(outcome, at: time))) == 1
    }

    func insert(_ receipt: StoredReceipt) throws {
        let (text, signature, certificate, kind): (String, [UInt8], [UInt8], String?) =
            switch receipt.evidence {
            case .receipt(let message, let certificate): (message.text, message.signature.body, certificate, nil)
            // The signature is a part of the token.
            case .jwt(let token, let keys): (token, [], keys, Self.jwt)
            case .event(let event, let keys): (event, [], keys, Self.event)
            }
        try connection.send(
            Statements.insertReceipt,
            [
                receipt.challenge.value, receipt.enrollment.value, .text(text), .blob(signature), .blob(certificate),
                receipt.acceptedAt.value, receipt.client.value, .optional(kind),
            ])
    }

    func delete(of challenge: ChallengeID) throws {
        try connection.send(Statements.removeReceipt, [challenge.value])
    }

    func find(of challenge: ChallengeID) throws -> StoredReceipt? {
        try first(Statements.receipt, [challenge.value]) { try Self.receipt($0, at: 0, of: challenge) }
    }

    func findWithReceipt(_ id: ChallengeID) throws -> (challenge: Challenge, receipt: Evidence?)? {
        try first(Statements.withReceipt, [id.value]) { row in
            let enrollment: EnrollmentID? = try row.optionalID(Statements.count)
            return (
                try challenge(row),
                try enrollment.map { _ in try Self.receipt(row, at: Statements.count, of: id).evidence }
            )
        }
    }

    /// The kind of a receipt that is a signed JWT; receipts of OpenPGP have none.
    private static let jwt = "jwt"
    /// The kind of a receipt that is a signed event.
    private static let event = "event"

    /// Reads seven adjacent columns.
    private static func receipt(_ row: SQLRow, at column: Int, of challenge: ChallengeID) throws -> StoredReceipt {
        StoredReceipt(
            challenge: challenge, client: try row.id(column + 5), enrollment: try row.id(column),
            evidence: try evidence(row, at: column), acceptedAt: try row.time(column + 4))
    }

    private static func evidence(_ row: SQLRow, at column: Int) throws -> Evidence {
        let (text, certificate) = (try row.text(column + 1), try row.blob(column + 3))
        switch try row.optionalText(column + 6) {
        case nil:
            guard let signature = try? Signature(parsing: try row.blob(column + 2)),
                let message = try? CleartextMessage(text: text, signature: signature)
            else { throw StoreError.corruptRow("receipt") }
            return .receipt(message, certificate: certificate)
        case jwt: return .jwt(text, keys: certificate)
        case event: return .event(text, keys: certificate)
        case .some: throw StoreError.corruptRow("receipt kind")
        }
    }

    func answering(
        _ id: ChallengeID, by enrollment: EnrollmentID, digest: MessageDigest
    ) throws -> AnsweringFacts? {
        try first(Statements.answering, [id.value, enrollment.value, .blob(digest.bytes)]) { row in
            try answeringFacts(row, by: enrollment, digest: digest)
        }
    }

    func answeringDevice(
        _ id: ChallengeID, by enrollment: EnrollmentID, digest: MessageDigest
    ) throws -> (enrollment: Enrollment, certificate: [UInt8], answering: AnsweringFacts?)? {
        try first(Statements.answeringDevice, [id.value, enrollment.value, .blob(digest.bytes)]) { row in
            let asked: ChallengeID? = try row.optionalID(0)
            return (
                try self.enrollment(row.dropping(Statements.answeringCount + 1)),
                try row.blob(Statements.answeringCount),
                try asked.map { _ in try answeringFacts(row, by: enrollment, digest: digest) }
            )
        }
    }

    private func answeringFacts(
        _ row: SQLRow, by enrollment: EnrollmentID, digest: MessageDigest
    ) throws -> AnsweringFacts {
        let target: EnrollmentID? = try row.optionalID(Statements.count)
        let recorded: ChallengeID? = try row.optionalID(Statements.count + 2)
        return AnsweringFacts(
            challenge: try challenge(row), isTarget: target != nil,
            recorded: try recorded.map { _ in
                try recordedAnswer(row, at: Statements.count + 2, by: enrollment, digest: digest)
            })
    }

    func insert(_ answer: RecordedAnswer, by enrollment: EnrollmentID, digest: MessageDigest, at time: Timestamp) throws
    {
        try connection.send(
            Statements.insertAnswer,
            [
                enrollment.value, .blob(digest.bytes), answer.challenge.value, .text(answer.status.state),
                .optional(answer.status.reason), time.value,
                .optional(
                    try answer.custom.map {
                        try sealer.seal($0.json.encoded, for: CustomReply.place(enrollment, digest))
                    }),
            ])
    }

    func find(by enrollment: EnrollmentID, digest: MessageDigest) throws -> RecordedAnswer? {
        try first(Statements.answer, [enrollment.value, .blob(digest.bytes)]) { row in
            try recordedAnswer(row, at: 0, by: enrollment, digest: digest)
        }
    }

    /// Reads four adjacent columns.
    private func recordedAnswer(
        _ row: SQLRow, at column: Int, by enrollment: EnrollmentID, digest: MessageDigest
    ) throws -> RecordedAnswer {
        RecordedAnswer(
            challenge: try row.id(column),
            status: ChallengeStatus(state: try row.text(column + 1), reason: try row.optionalText(column + 2)),
            custom: try row.optionalBlob(column + 3).map { sealed in
                let bytes = try sealer.open(sealed, for: CustomReply.place(enrollment, digest))
                guard let reply = (try? JSONValue(parsing: bytes)).flatMap({ CustomReply($0) }) else {
                    throw StoreError.corruptRow("answer")
                }
                return reply
            })
    }
}

/// Conversions between rows and values.
extension SQLTransaction {
    /// The columns state, reason, method, decided_by and ended_at.
    private func columns(of state: ChallengeState) -> [SQLValue] {
        switch state {
        case .pending: [.text("pending"), .null, .null, .null, .null]
        case .returning(let method, let enrollment):
            [.text("pending"), .null, .text(method.rawValue), enrollment.value, .null]
        case .ended(let outcome, let time):
            [
                .text(outcome.state), .optional(outcome.reason), .optional(outcome.method),
                .optional(outcome.decidedBy?.description), time.value,
            ]
        }
    }

    /// What stands before the form of a callback that is not ours, behind its URI, which has no fragment of its own.
    private static let callbackMark: Character = "#"

    /// The column callback_uri.
    private static func callback(of challenge: Challenge) -> String? {
        challenge.callbackURI.map { uri in
            switch challenge.callbackForm {
            case .native: uri.description
            case .oneWelcome: "\(uri.description)\(callbackMark)onewelcome"
            }
        }
    }

    /// The columns channel and claimed_at.
    private func columns(of channel: Channel) -> [SQLValue] {
        [.text(channel.kind.rawValue), .optional(channel.claimedAt?.milliseconds)]
    }

    /// The columns purpose and new_device_id.
    private func columns(of purpose: Purpose) -> [SQLValue] {
        switch purpose {
        case .relyingParty: [.text("relying_party"), .null]
        case .authorization: [.text("authorization"), .null]
        case .ownSignIn: [.text("own_sign_in"), .null]
        case .newDevice(let enrollment): [.text("new_device"), enrollment.value]
        }
    }

    func challenge(_ row: SQLRow) throws -> Challenge {
        let asked = try parsed.challenges.value(try row.id(0), of: row[0..<13]) { try self.asked(row) }
        let callback = try row.optionalText(15)
        return Challenge(
            question: asked.question, user: try row.optionalID(3), channel: try channel(row), purpose: try purpose(row),
            alert: asked.alert, methods: asked.methods,
            numberHash: try row.optionalBlob(13).map(KeyedHash.init),
            attempts: try row.optionalInteger(28).map { Int($0) },
            expiresAt: try row.time(14),
            callbackURI: callback.map { CallbackURI(stored: String($0.prefix { $0 != Self.callbackMark })) },
            callbackForm: callback?.contains(Self.callbackMark) == true ? .oneWelcome : .native,
            clientState: try row.optionalText(16),
            locale: try row.optionalText(17).map(RequestedLanguage.init(stored:)),
            browser: try row.optionalBlob(27).map(KeyedHash.init), state: try state(row))
    }

    /// Reads the columns that never change after the challenge was asked.
    private func asked(_ row: SQLRow) throws -> ParsedRows.Asked {
        guard let nonce = Nonce(bytes: try row.blob(5)) else { throw StoreError.corruptRow("challenge nonce") }
        let question = Question(
            challenge: try row.id(0), nonce: nonce, issuer: issuer, client: try row.id(1),
            clientName: try row.value(2) { try? ClientName($0) },
            type: try row.value(4) { TypeName($0) },
            context: try row.optionalValue(6) { try? DisplayLine($0) }, askedAt: try row.time(7),
            details: try row.value(8, details), signingData: try row.optionalText(9),
            message: try row.value(10) { try? DisplayMessage($0) })
        return (
            question, try row.value(11) { try? DisplayMessage($0) },
            try row.text(12).split(separator: " ").compactMap { AnswerMethod(rawValue: String($0)) }
        )
    }

    private func channel(_ row: SQLRow) throws -> Channel {
        switch try row.value(23, ChannelKind.init(rawValue:)) {
        case .devices: .devices
        case .text: .text
        case .code:
            .code(
                try row.optionalTime(24).map(Claim.done) ?? .awaited,
                returnURI: try row.optionalText(29).map(ReturnURI.init(stored:)))
        }
    }

    private func purpose(_ row: SQLRow) throws -> Purpose {
        switch try row.text(25) {
        case "relying_party": .relyingParty
        case "new_device": .newDevice(try row.id(26))
        case "authorization": .authorization(try row.id(30))
        case "own_sign_in": .ownSignIn
        default: throw StoreError.corruptRow("challenge purpose")
        }
    }

    private func details(_ text: String) -> [Detail]? {
        guard let elements = try? JSONValue(parsing: Array(text.utf8)).array else { return nil }
        return try? elements.map { try Detail($0, at: "") }
    }

    private func state(_ row: SQLRow) throws -> ChallengeState {
        let name = try row.text(18)
        let reason = try row.optionalText(19)
        if name == "pending" {
            guard let enrollment: EnrollmentID = try row.optionalID(21) else { return .pending }
            return .returning(try row.value(20) { AnswerMethod(rawValue: $0) }, by: enrollment)
        }
        let outcome: ChallengeOutcome
        switch name {
        case "approved" where try row.text(20) == ChallengeOutcome.enteredMethod:
            outcome = .entered
        case "approved":
            outcome = .approved(try row.value(20) { AnswerMethod(rawValue: $0) }, by: try row.id(21))
        case "denied":
            outcome = reason == "reported" ? .reported(by: try row.id(21)) : .denied(by: try row.id(21))
        case "failed":
            outcome = .failed(try row.value(19) { FailureReason(rawValue: $0) })
        case "cancelled": outcome = .cancelled
        case "expired": outcome = .expired
        default: throw StoreError.corruptRow("challenge state")
        }
        return .ended(outcome, at: try row.time(22))
    }
}

/// The form in which a column holds it, sealed: the hook's reply is meant only for the app.
extension CustomReply {
    static func place(_ enrollment: some CustomStringConvertible, _ digest: MessageDigest) -> String {
        "answer \(enrollment) \(Hex.encode(digest.bytes))"
    }

    fileprivate var json: JSONValue {
        .members(["attempts_left": .integer(Int64(attemptsLeft)), "payload": payload.map(JSONValue.string)])
    }

    fileprivate init?(_ json: JSONValue) {
        guard let attemptsLeft = json["attempts_left"]?.integer else { return nil }
        self.init(attemptsLeft: Int(attemptsLeft), payload: json["payload"]?.string)
    }
}
