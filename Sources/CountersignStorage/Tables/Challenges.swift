import CountersignCore
import CountersignWire
import Encodings
import OpenPGP

private enum Statements {
    static let columns = """
        id, client_id, client_name, user_id, type, nonce, context, asked_at, details, signing_data, message, alert,
        methods, number_hash, expires_at, callback_uri, client_state, locale, state, reason, method, decided_by,
        ended_at, channel, claimed_at, purpose, new_device_id, browser, attempts, return_uri
        """
    static let byID = SQLStatement("SELECT \(columns) FROM challenges WHERE id = $1")
    static let insert = SQLStatement(
        """
        INSERT INTO challenges (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
        $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30)
        """)
    static let insertTarget = SQLStatement(
        "INSERT INTO challenge_targets (challenge_id, enrollment_id) VALUES ($1, $2)")
    static let recentAsks = SQLStatement(
        """
        SELECT asked_at, state, ended_at FROM challenges WHERE user_id = $1 AND client_id = $2 AND asked_at > $3
        AND channel <> 'code' AND purpose = 'relying_party' ORDER BY asked_at DESC LIMIT $4
        """)
    /// `|| ''` keeps the planner from using the index on user and client, which covers all of the user's challenges,
    /// instead of the index on the user's few pending ones.
    static let openCount = SQLStatement(
        """
        SELECT count(*) FROM (SELECT 1 AS one FROM challenges
        WHERE user_id = $1 AND state = 'pending' AND client_id || '' = $2 AND expires_at > $3 AND channel <> 'code'
        AND purpose = 'relying_party' LIMIT $4) AS open
        """)
    static let openOfClient = SQLStatement(
        """
        SELECT id FROM challenges WHERE client_id = $1 AND state = 'pending' AND purpose = 'relying_party'
        ORDER BY id LIMIT $2
        """)
    static let openBetween = SQLStatement(
        """
        SELECT id FROM challenges WHERE user_id = $2 AND state = 'pending' AND client_id || '' = $1
        AND purpose = 'relying_party' ORDER BY id
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
    static let pending = SQLStatement(
        """
        SELECT \(columns) FROM challenges p WHERE \(isPending(user: "$1", enrollment: "$3", now: "$2"))
        ORDER BY id DESC LIMIT $4
        """)
    static let held = SQLStatement(
        """
        SELECT \(columns) FROM challenges WHERE user_id = $1 AND state = 'pending' AND decided_by = $2
        AND expires_at > $3
        """)
    static let announced = SQLStatement(
        """
        SELECT \(columns), e.push, e.push_token, (SELECT count(*) FROM (SELECT 1 AS one FROM challenges p
          WHERE \(isPending(user: "c.user_id", enrollment: "$2", now: "$3")) LIMIT $4) AS pending)
        FROM challenges c, (SELECT push, push_token FROM enrollments WHERE id = $2 AND push IS NOT NULL) e
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
        INSERT INTO receipts (challenge_id, enrollment_id, text, signature, certificate, accepted_at, client_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """)
    static let removeReceipt = SQLStatement("DELETE FROM receipts WHERE challenge_id = $1")
    static let receipt = SQLStatement(
        "SELECT enrollment_id, text, signature, certificate, accepted_at, client_id FROM receipts WHERE challenge_id = $1"
    )
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
                challenge.expiresAt.value, .optional(challenge.callbackURI?.description),
                .optional(challenge.clientState), .optional(challenge.locale?.description),
            ] + columns(of: challenge.state) + columns(of: challenge.channel) + columns(of: challenge.purpose)
                + [
                    .optional(challenge.browser?.bytes),
                    .optional(challenge.attempts.map { Int64($0) }),
                    .optional(challenge.channel.returnURI?.description),
                ])
        for target in targets {
            try connection.send(Statements.insertTarget, [challenge.id.value, target.value])
        }
    }

    func openCount(of user: UserID, by client: ClientID, now: Timestamp, limit: Int) throws -> Int {
        let arguments: [SQLValue] = [user.value, client.value, now.value, .integer(Int64(limit))]
        return try first(Statements.openCount, arguments) { Int(try $0.integer(0)) } ?? 0
    }

    func open(of client: ClientID, limit: Int) throws -> [ChallengeID] {
        try all(Statements.openOfClient, [client.value, .integer(Int64(limit))]) { try $0.id(0) }
    }

    func open(of client: ClientID, user: UserID) throws -> [ChallengeID] {
        try all(Statements.openBetween, [client.value, user.value]) { try $0.id(0) }
    }

    func recentAsks(of user: UserID, by client: ClientID, since: Timestamp, limit: Int) throws -> [RecentAsk] {
        try all(Statements.recentAsks, [user.value, client.value, since.value, .integer(Int64(limit))]) { row in
            let outcome: RecentAsk.Outcome =
                switch try row.text(1) {
                case "approved": .approved
                case "denied": .denied(at: try row.time(2))
                default: .other
                }
            return RecentAsk(askedAt: try row.time(0), outcome: outcome)
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
    ) throws -> [Challenge] {
        let arguments: [SQLValue] = [user.value, now.value, enrollment.value, .integer(Int64(limit))]
        return try all(Statements.pending, arguments, challenge)
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
                let push = try registeredPush(row, at: 30, of: subject.enrollment)
                return AnnounceChallenge.Facts(
                    try challenge(row), to: subject.enrollment, by: push, badge: Int(try row.integer(32)))
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
        switch receipt.evidence {
        case .receipt(let message, let certificate):
            try connection.send(
                Statements.insertReceipt,
                [
                    receipt.challenge.value, receipt.enrollment.value, .text(message.text),
                    .blob(message.signature.body), .blob(certificate), receipt.acceptedAt.value,
                    receipt.client.value,
                ])
        }
    }

    func delete(of challenge: ChallengeID) throws {
        try connection.send(Statements.removeReceipt, [challenge.value])
    }

    func find(of challenge: ChallengeID) throws -> StoredReceipt? {
        try first(Statements.receipt, [challenge.value]) { row in
            guard let signature = try? Signature(parsing: try row.blob(2)),
                let message = try? CleartextMessage(text: try row.text(1), signature: signature)
            else { throw StoreError.corruptRow("receipt") }
            return StoredReceipt(
                challenge: challenge, client: try row.id(5), enrollment: try row.id(0),
                evidence: .receipt(message, certificate: try row.blob(3)), acceptedAt: try row.time(4))
        }
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
            RecordedAnswer(
                challenge: try row.id(0),
                status: ChallengeStatus(state: try row.text(1), reason: try row.optionalText(2)),
                custom: try row.optionalBlob(3).map { sealed in
                    let bytes = try sealer.open(sealed, for: CustomReply.place(enrollment, digest))
                    guard let reply = (try? JSONValue(parsing: bytes)).flatMap({ CustomReply($0) }) else {
                        throw StoreError.corruptRow("answer")
                    }
                    return reply
                })
        }
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

    /// The columns channel and claimed_at.
    private func columns(of channel: Channel) -> [SQLValue] {
        [.text(channel.kind.rawValue), .optional(channel.claimedAt?.milliseconds)]
    }

    /// The columns purpose and new_device_id.
    private func columns(of purpose: Purpose) -> [SQLValue] {
        switch purpose {
        case .relyingParty: [.text("relying_party"), .null]
        case .newDevice(let enrollment): [.text("new_device"), enrollment.value]
        }
    }

    func challenge(_ row: SQLRow) throws -> Challenge {
        let asked = try parsed.challenges.value(try row.id(0), of: row[0..<13]) { try self.asked(row) }
        return Challenge(
            question: asked.question, user: try row.optionalID(3), channel: try channel(row), purpose: try purpose(row),
            alert: asked.alert, methods: asked.methods,
            numberHash: try row.optionalBlob(13).map(KeyedHash.init),
            attempts: try row.optionalInteger(28).map { Int($0) },
            expiresAt: try row.time(14),
            callbackURI: try row.optionalText(15).map(CallbackURI.init(stored:)),
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
