import CountersignCore
import CountersignStorage
import Encodings
import TestSupport

/// What is wrong with a server on purpose, at the edge of the database: the sources have no switch for it.
package enum PlantedFault: String, CaseIterable, Sendable {
    /// Who ends a challenge does not always see that it has ended.
    case endTwice
    /// A nonce is not remembered.
    case nonceForgotten
    /// Who waits hears nothing of a commit.
    case noticeLost
    /// What happened is told before it is written, and then the node dies.
    case replyBeforeCommit
    /// A callback leaves though what it tells of was taken back.
    case sentFromNowhere
    /// A callback is taken for delivered when it is taken up.
    case sentBeforeArrival
    /// Wrong PINs are not counted past the first.
    case limitForgotten
    /// A device that was removed is taken for one that is there.
    case removalForgotten
    /// The reply to a key is not kept.
    case keyForgotten
    /// Now and then the audit is told nothing.
    case auditForgotten
    /// A new device counts at once.
    case waitForgotten
    /// Who reported a question is asked by its client again.
    case lockForgotten
    /// Who approves leaves no receipt.
    case receiptForgotten
    /// Now and then the audit tells a secret that somebody was given.
    case secretAudited
    /// Questions are taken to be over three minutes later than they are.
    case expiryLater
    /// Attempts are not counted past the first: codes that are typed, and announcements.
    case attemptsForgotten
    /// What is approved by a link does not wait for its code.
    case wayBackForgotten
    /// Who presents a code does not always see that another has.
    case claimTwice
    /// Every browser is taken for one from which something was approved.
    case browserForgotten
    /// What removed devices leave behind is not kept.
    case leftBehindForgotten
    /// A new PIN and a new biometric count at once.
    case methodWaitForgotten
    /// Whoever lets a user go does not see what is open between them.
    case openForgotten
    /// A client that is disabled is taken for one that is let in.
    case disabledForgotten

    /// How many hours a world lasts in which it is looked for.
    package var hours: Double {
        switch self {
        case .attemptsForgotten, .claimTwice, .leftBehindForgotten, .methodWaitForgotten, .openForgotten,
            .disabledForgotten:
            1
        default: 0.25
        }
    }

    /// The promises that it breaks, by their numbers in design 11 §4; one of them is found first.
    package var invariants: Set<Int> {
        switch self {
        case .endTwice: [1, 2, 5, 10]
        case .waitForgotten, .receiptForgotten, .wayBackForgotten: [2]
        case .methodWaitForgotten: [2, 14]
        case .replyBeforeCommit: [1, 3, 4, 5]
        case .keyForgotten: [4]
        case .nonceForgotten, .claimTwice: [5]
        case .limitForgotten, .attemptsForgotten: [6]
        case .removalForgotten, .openForgotten, .disabledForgotten: [7]
        case .lockForgotten, .browserForgotten: [8]
        // A callback of what was taken back tells an end that never was.
        case .sentFromNowhere: [1, 9]
        case .sentBeforeArrival: [9]
        case .noticeLost: [10]
        case .secretAudited: [11]
        case .auditForgotten: [12]
        case .expiryLater: [13]
        case .leftBehindForgotten: [14]
        }
    }
}

/// Carries a planted fault out.
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

    /// What is put into the audit in the place of what happened; nil where it stays.
    fileprivate var audited: SQLValue? {
        guard fault == .secretAudited, let secret = ledger.latestSecret, happens(percent: 1) else { return nil }
        return .text(JSONValue.members(["digest": .string(secret)]).text)
    }

    fileprivate func happens(percent: Int) -> Bool { chance.happens(percent: percent) }

    /// What was put into the outbox by a transaction that was taken back is sent all the same.
    func sendWhatWasTakenBack(_ database: SimulatedDatabase) throws {
        for (statement, arguments) in takenBack {
            _ = try database.transaction(isKept: true) { try $0.execute(statement, arguments) }
        }
        takenBack = []
    }
}

/// A connection whose statements a planted fault changes.
final class PlantedConnection: SQLConnection {
    private let connection: any SQLConnection
    private let plants: Plants

    init(_ connection: any SQLConnection, _ plants: Plants) {
        self.connection = connection
        self.plants = plants
        plants.takenBack = []
    }

    /// The state of a challenge, as it is read.
    private static let state = "state, reason, method, decided_by,\nended_at"

    func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow] {
        try connection.rows(changed(statement), arguments)
    }

    func execute(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> Int {
        note(statement, arguments)
        guard !isLeftOut(statement) else { return 1 }
        var arguments = arguments
        if statement.text.hasPrefix("INSERT INTO audit"), let audited = plants.audited {
            arguments[arguments.count - 1] = audited
        }
        return try connection.execute(changed(statement), arguments)
    }

    private func note(_ statement: SQLStatement, _ arguments: [SQLValue]) {
        if plants.fault == .sentFromNowhere, statement.text.hasPrefix("INSERT INTO outbox") {
            plants.takenBack.append((statement, arguments))
        }
    }

    private func isLeftOut(_ statement: SQLStatement) -> Bool {
        let text = statement.text
        switch plants.fault {
        case .nonceForgotten: return text.hasPrefix("INSERT INTO nonces")
        case .keyForgotten: return text.hasPrefix("INSERT INTO replies")
        case .auditForgotten: return text.hasPrefix("INSERT INTO audit") && plants.happens(percent: 1)
        case .lockForgotten: return text.hasPrefix("INSERT INTO asking_locks")
        case .leftBehindForgotten: return text.hasPrefix("INSERT INTO left_behind")
        case .receiptForgotten: return text.hasPrefix("INSERT INTO receipts") && plants.happens(percent: 2)
        default: return false
        }
    }

    private func changed(_ statement: SQLStatement) -> SQLStatement {
        let text = statement.text
        func replaced(_ part: String, by other: String) -> SQLStatement {
            SQLStatement(text.replacing(part, with: other))
        }
        switch plants.fault {
        case .endTwice where text.hasPrefix("UPDATE challenges SET state"):
            return replaced("AND state = 'pending'", by: "")
        case .endTwice where text.hasPrefix("SELECT") && text.contains(Self.state) && plants.happens(percent: 20):
            return replaced(Self.state, by: "'pending', NULL, NULL, NULL, NULL")
        case .limitForgotten where text.hasPrefix("UPDATE enrollments SET wrong_pins"):
            return replaced("wrong_pins + 1", by: "min(wrong_pins + 1, 1)")
        case .removalForgotten where text.hasPrefix("SELECT") && text.contains("FROM enrollments"):
            return replaced("removed_at", by: "NULL")
        case .waitForgotten where text.hasPrefix("SELECT") && text.contains("FROM enrollments"):
            return replaced("awaits, counts_from", by: "awaits, created_at")
        case .expiryLater where text.contains("challenges") && !text.hasPrefix("INSERT"):
            return SQLStatement(
                text.replacing("number_hash, expires_at,", with: "number_hash, expires_at + 180000,")
                    .replacing("expires_at >", with: "expires_at + 180000 >")
                    .replacing("expires_at <=", with: "expires_at + 180000 <="))
        case .attemptsForgotten where text.hasPrefix("INSERT INTO attempts"):
            return replaced("attempts.count + 1", by: "1")
        case .wayBackForgotten where text.hasPrefix("UPDATE challenges SET method = $2, decided_by"):
            return replaced("SET method", by: "SET state = 'approved', ended_at = $5, method")
        case .claimTwice where text.hasPrefix("UPDATE challenges SET user_id"):
            return replaced("AND claimed_at IS NULL", by: "")
        case .claimTwice where text.hasPrefix("SELECT") && plants.happens(percent: 50):
            return replaced("channel, claimed_at,", by: "channel, NULL,")
        case .browserForgotten where text.hasPrefix("SELECT 1 FROM known_browsers"):
            return SQLStatement("SELECT 1 WHERE $1 <> '' AND $2 <> '' AND $3 IS NOT NULL")
        case .methodWaitForgotten where text.hasPrefix("SELECT") && text.contains("FROM enrollments"):
            return replaced("pin_counts_from, biometric_counts_from", by: "0 * pin_key, 0 * biometric_key")
        case .openForgotten where text.hasPrefix("SELECT id FROM challenges WHERE user_id"):
            return replaced("state = 'pending'", by: "state = 'none'")
        case .disabledForgotten where text.hasPrefix("SELECT") && text.contains("FROM clients"):
            return replaced("disabled_at", by: "NULL")
        case .sentBeforeArrival where text.hasPrefix("UPDATE outbox SET due_at") && text.contains("RETURNING"):
            return replaced("SET due_at", by: "SET state = 'delivered', delivered_at = 0, due_at")
        default: return statement
        }
    }
}
