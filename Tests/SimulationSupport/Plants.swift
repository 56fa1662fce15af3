import CountersignCore
import CountersignStorage
import Encodings
import TestSupport

/// A deliberate defect of the server, planted at the boundary to the database; the sources have no switch for it.
package enum PlantedFault: String, CaseIterable, Sendable {
    /// An operation that ends a challenge sometimes does not see that the challenge has ended.
    case endTwice
    /// Nonces are not stored.
    case nonceForgotten
    /// Waiting tasks get no notifications of commits.
    case noticeLost
    /// The result is told before the commit, and then the node dies.
    case replyBeforeCommit
    /// A callback is sent although its transaction was rolled back.
    case sentFromNowhere
    /// A callback counts as delivered as soon as it is leased.
    case sentBeforeArrival
    /// Wrong PINs are not counted after the first.
    case limitForgotten
    /// A removed device is treated as an active one.
    case removalForgotten
    /// The reply to an idempotency key is not stored.
    case keyForgotten
    /// Sometimes an audit event is not written.
    case auditForgotten
    /// A new device counts at once.
    case waitForgotten
    /// A client can ask a user again who has reported one of its challenges.
    case lockForgotten
    /// An approval leaves no receipt.
    case receiptForgotten
    /// Sometimes the audit contains a secret.
    case secretAudited
    /// Challenges expire three minutes too late.
    case expiryLater
    /// Attempts are not counted after the first: entered codes, and repeated announcements.
    case attemptsForgotten
    /// The approval of a link does not wait for the return code.
    case wayBackForgotten
    /// An operation that claims a challenge sometimes does not see an earlier claim.
    case claimTwice
    /// Every browser is treated as one in which something was approved.
    case browserForgotten
    /// The records of removed devices are not kept.
    case leftBehindForgotten
    /// A new PIN and a new biometric count at once.
    case methodWaitForgotten
    /// The unlinking of a user from a client does not see their open challenges.
    case openForgotten
    /// A disabled client is treated as an enabled one.
    case disabledForgotten
    /// A code can be redeemed again.
    case redemptionForgotten
    /// Tokens that belong together do not end.
    case tokenEndForgotten
    /// A third party is treated as a client of the operator's.
    case consentForgotten
    /// What a user has allowed a client is kept after its end.
    case grantEndForgotten
    /// The end of what a client may have leaves its tokens.
    case accessEndForgotten
    /// Tokens that have ended are treated as good ones.
    case endForgotten
    /// What a person has authorized in detail is not kept with their tokens.
    case detailsForgotten
    /// Nobody's code is known by which they are asked by clients' servers.
    case askingCodeForgotten
    /// A sign-in that is refused or taken back goes on.
    case refusalForgotten
    /// Sign-ins end three minutes too late.
    case signInEndLater
    /// Clients' servers are not told of decisions.
    case noticeToServerForgotten

    /// How long a run lasts in which the defect is searched for, in simulated hours.
    package var hours: Double {
        switch self {
        case .attemptsForgotten, .claimTwice, .leftBehindForgotten, .methodWaitForgotten, .openForgotten,
            .disabledForgotten:
            1
        default: 0.25
        }
    }

    /// The invariants that the defect breaks, by their numbers in `InvariantTests`; a search finds one of them first.
    package var invariants: Set<Int> {
        switch self {
        case .endTwice: [1, 2, 5, 10]
        case .waitForgotten, .receiptForgotten, .wayBackForgotten: [2]
        case .methodWaitForgotten: [2, 14]
        // An end of a session that was told and then lost leaves a browser signed in.
        case .replyBeforeCommit: [1, 3, 4, 5, 15]
        case .keyForgotten: [4]
        case .nonceForgotten, .claimTwice: [5]
        case .limitForgotten, .attemptsForgotten: [6]
        case .openForgotten: [7]
        // What a device has approved, or a client has asked, gives tokens after its end.
        case .removalForgotten, .disabledForgotten: [7, 15]
        case .lockForgotten, .browserForgotten: [8]
        // The callback of a transaction that was rolled back reports an end that never happened.
        case .sentFromNowhere: [1, 9]
        case .sentBeforeArrival, .noticeToServerForgotten: [9]
        case .noticeLost: [10]
        case .secretAudited: [11]
        case .auditForgotten: [12]
        // What ends three minutes late may also end after the portal was to hear of it.
        case .expiryLater: [0, 13]
        case .leftBehindForgotten: [14]
        case .redemptionForgotten, .tokenEndForgotten, .consentForgotten, .grantEndForgotten, .accessEndForgotten,
            .endForgotten, .detailsForgotten, .askingCodeForgotten, .refusalForgotten, .signInEndLater:
            [15]
        }
    }
}

/// Carries out a planted defect.
final class Plants {
    let fault: PlantedFault?
    private let ledger: Ledger
    private var chance: SeededGenerator
    fileprivate var takenBack: [(SQLStatement, [SQLValue])] = []

    init(_ fault: PlantedFault?, _ ledger: Ledger, _ chance: SeededGenerator) {
        self.fault = fault
        self.ledger = ledger
        self.chance = chance
    }

    /// What is written to the audit in place of an event's detail; nil for no change.
    fileprivate var audited: SQLValue? {
        guard fault == .secretAudited, let secret = ledger.latestSecret, happens(percent: 1) else { return nil }
        return .text(JSONValue.members(["digest": .string(secret)]).text)
    }

    fileprivate func happens(percent: Int) -> Bool { chance.happens(percent: percent) }

    /// Sends the messages that a rolled back transaction had put into the outbox.
    func sendWhatWasTakenBack(_ database: SimulatedDatabase) throws {
        for (statement, arguments) in takenBack {
            _ = try database.transaction(isKept: true) { try $0.execute(statement, arguments) }
        }
        takenBack = []
    }
}

/// A connection that changes statements for a planted defect.
final class PlantedConnection: SQLConnection {
    private let connection: any SQLConnection
    private let plants: Plants

    init(_ connection: any SQLConnection, _ plants: Plants) {
        self.connection = connection
        self.plants = plants
        plants.takenBack = []
    }

    /// The columns of a challenge's state.
    private static let state = "state, reason, method, decided_by, ended_at"

    /// The pattern of a list of columns, each with or without the name of its table.
    private static func pattern(_ columns: String) throws -> Regex<AnyRegexOutput> {
        let names = columns.split(separator: ", ").map { #"(?:\b\w\.|\b)\#($0)\b"# }
        return try Regex(names.joined(separator: #",\s*"#))
    }

    func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow] {
        try connection.rows(try changed(statement), arguments)
    }

    func execute(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> Int {
        note(statement, arguments)
        guard !isLeftOut(statement, arguments) else { return 1 }
        var arguments = arguments
        if plants.fault == .detailsForgotten, statement.text.hasPrefix("INSERT INTO token_families") {
            arguments = arguments.map(Self.withoutDetails)
        }
        if statement.text.hasPrefix("INSERT INTO audit"), let audited = plants.audited {
            arguments[arguments.count - 1] = audited
        }
        return try connection.execute(try changed(statement), arguments)
    }

    private func note(_ statement: SQLStatement, _ arguments: [SQLValue]) {
        if plants.fault == .sentFromNowhere, statement.text.hasPrefix("INSERT INTO outbox") {
            plants.takenBack.append((statement, arguments))
        }
    }

    /// An authentication without what was authorized in detail.
    private static func withoutDetails(_ value: SQLValue) -> SQLValue {
        guard case .text(let text) = value, var members = (try? JSONValue(parsing: Array(text.utf8)))?.object else {
            return value
        }
        members["details"] = nil
        return .text(JSONValue.object(members).text)
    }

    private func isLeftOut(_ statement: SQLStatement, _ arguments: [SQLValue]) -> Bool {
        let text = statement.text
        switch plants.fault {
        case .nonceForgotten: return text.hasPrefix("INSERT INTO nonces")
        case .keyForgotten: return text.hasPrefix("INSERT INTO replies")
        case .auditForgotten: return text.hasPrefix("INSERT INTO audit") && plants.happens(percent: 1)
        case .lockForgotten: return text.hasPrefix("INSERT INTO asking_locks")
        case .leftBehindForgotten: return text.hasPrefix("INSERT INTO left_behind")
        case .tokenEndForgotten: return text.hasPrefix("UPDATE token_families SET ended_at")
        case .grantEndForgotten: return text.hasPrefix("DELETE FROM grants")
        case .accessEndForgotten:
            return text.hasPrefix("UPDATE token_families SET ended_at") && text.contains("user_id = $3 AND client_id")
        case .refusalForgotten: return text.hasPrefix("UPDATE authorizations SET state = 'refused'")
        case .noticeToServerForgotten:
            return text.hasPrefix("INSERT INTO outbox") && arguments.contains(.text("backchannel"))
        case .receiptForgotten: return text.hasPrefix("INSERT INTO receipts") && plants.happens(percent: 2)
        default: return false
        }
    }

    private func changed(_ statement: SQLStatement) throws -> SQLStatement {
        let text = statement.text
        func replaced(_ part: String, by other: String) -> SQLStatement {
            SQLStatement(text.replacing(part, with: other))
        }
        func replaced(columns: String, by other: String) throws -> SQLStatement {
            SQLStatement(text.replacing(try Self.pattern(columns), with: other))
        }
        switch plants.fault {
        case .endTwice where text.hasPrefix("UPDATE challenges SET state"):
            return replaced("AND state = 'pending'", by: "")
        case .endTwice where text.hasPrefix("SELECT") && plants.happens(percent: 20):
            return try replaced(columns: Self.state, by: "'pending', NULL, NULL, NULL, NULL")
        case .limitForgotten where text.hasPrefix("UPDATE enrollments SET wrong_pins"):
            return replaced("wrong_pins + 1", by: "min(wrong_pins + 1, 1)")
        case .removalForgotten where text.hasPrefix("SELECT") && text.contains("FROM enrollments"):
            return try replaced(columns: "removed_at", by: "NULL")
        case .waitForgotten where text.hasPrefix("SELECT") && text.contains("FROM enrollments"):
            return try replaced(columns: "awaits, counts_from", by: "awaits, created_at")
        case .expiryLater where text.contains("challenges") && !text.hasPrefix("INSERT"):
            return SQLStatement(
                text.replacing(try Self.pattern("number_hash, expires_at"), with: "number_hash, expires_at + 180000")
                    .replacing("expires_at >", with: "expires_at + 180000 >")
                    .replacing("expires_at <=", with: "expires_at + 180000 <="))
        case .attemptsForgotten where text.hasPrefix("INSERT INTO attempts"):
            return replaced("attempts.count + 1", by: "1")
        case .wayBackForgotten where text.hasPrefix("UPDATE challenges SET method = $2, decided_by"):
            return replaced("SET method", by: "SET state = 'approved', ended_at = $5, method")
        case .claimTwice where text.hasPrefix("UPDATE challenges SET user_id"):
            return replaced("AND claimed_at IS NULL", by: "")
        case .claimTwice where text.hasPrefix("SELECT") && plants.happens(percent: 50):
            return try replaced(columns: "channel, claimed_at", by: "channel, NULL")
        case .browserForgotten where text.hasPrefix("SELECT 1 FROM known_browsers"):
            return SQLStatement("SELECT 1 WHERE $1 <> '' AND $2 <> '' AND $3 IS NOT NULL")
        case .methodWaitForgotten where text.hasPrefix("SELECT") && text.contains("FROM enrollments"):
            return try replaced(columns: "pin_counts_from, biometric_counts_from", by: "0 * pin_key, 0 * biometric_key")
        case .openForgotten where text.hasPrefix("SELECT id FROM challenges WHERE user_id"):
            return replaced("state = 'pending'", by: "state = 'none'")
        case .disabledForgotten where text.hasPrefix("SELECT") && text.contains("FROM clients"):
            return try replaced(columns: "disabled_at", by: "NULL")
        case .redemptionForgotten where text.hasPrefix("UPDATE codes SET spent_at"):
            return replaced("AND spent_at IS NULL", by: "")
        case .redemptionForgotten where text.hasPrefix("UPDATE authorizations SET state"):
            return replaced("AND state = $5", by: "AND $5 <> ''")
        case .redemptionForgotten where text.hasPrefix("SELECT") && text.contains("FROM codes c"):
            let state = "CASE a.state WHEN 'redeemed' THEN 'granted' ELSE a.state END"
            return SQLStatement(
                text.replacing("c.expires_at, c.spent_at", with: "c.expires_at, NULL")
                    .replacing("a.state", with: state).replacing("a.family_id", with: "NULL"))
        case .redemptionForgotten where text.hasPrefix("SELECT") && text.contains("FROM authorizations"):
            let state = "CASE state WHEN 'redeemed' THEN 'granted' ELSE state END"
            return try replaced(
                columns: "user_id, state, authentication, family_id",
                by: "user_id, \(state), authentication, NULL")
        case .consentForgotten where text.hasPrefix("SELECT") && text.contains("FROM clients"):
            return try replaced(columns: "disabled_at, third_party", by: "disabled_at, 0")
        case .endForgotten where text.hasPrefix("SELECT") && text.contains("FROM token_families"):
            return try replaced(columns: "ended_at, resources", by: "NULL, resources")
        case .endForgotten where text.hasPrefix("UPDATE token_families SET generation"):
            return replaced("AND ended_at IS NULL", by: "")
        case .askingCodeForgotten where text.hasPrefix("SELECT user_code FROM users"):
            return replaced("user_code", by: "NULL")
        case .signInEndLater where text.hasPrefix("SELECT") && text.contains("FROM authorizations"):
            return try replaced(columns: "ask_declined, expires_at", by: "ask_declined, expires_at + 180000")
        case .signInEndLater where text.hasPrefix("UPDATE authorizations SET state"):
            return replaced("expires_at >", by: "expires_at + 180000 >")
        case .sentBeforeArrival where text.hasPrefix("UPDATE outbox SET due_at") && text.contains("RETURNING"):
            return replaced("SET due_at", by: "SET state = 'delivered', delivered_at = 0, due_at")
        default: return statement
        }
    }
}
