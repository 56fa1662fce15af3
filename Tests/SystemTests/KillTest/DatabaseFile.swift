import Foundation
import GRDB

/// The server's database, read by the test while the server runs.
struct DatabaseFile {
    private let pool: DatabaseQueue

    init(data: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        pool = try DatabaseQueue(path: "\(data)/countersign.sqlite", configuration: configuration)
    }

    /// The number of messages in the outbox with a state.
    func outbox(_ state: String) throws -> Int {
        try pool.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM outbox WHERE state = ?", arguments: [state]) ?? -1
        }
    }

    /// The faults in the file; empty if there are none.
    func faults() throws -> [String] {
        try pool.read { database in
            let integrity = try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            let references = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").map { "\($0)" }
            let ends = try String.fetchAll(database, sql: Self.oddEnds)
            let receipts = try String.fetchAll(database, sql: Self.oddReceipts)
            return integrity + references + ends + receipts
        }
    }

    /// The transaction that ends a challenge writes one event about it. Only the server's own challenges about a new
    /// device may stay open for a day.
    static let oddEnds = """
        SELECT c.id || ' is ' || c.state || ' by ' || count(a.id) || ' events' FROM challenges c
        LEFT JOIN audit a ON a.challenge_id = c.id AND a.kind IN ('challenge.approved', 'challenge.denied',
        'challenge.reported', 'challenge.failed', 'challenge.cancelled', 'challenge.expired')
        WHERE c.purpose = 'relying_party' OR c.state <> 'pending' GROUP BY c.id HAVING count(a.id) <> 1
        """

    /// A challenge has a receipt if and only if a device has approved or denied it; a code is entered on a page.
    static let oddReceipts = """
        SELECT c.id || ' is ' || c.state || ' and its receipt ' || coalesce('is ' || r.challenge_id, 'is missing')
        FROM challenges c LEFT JOIN receipts r ON r.challenge_id = c.id
        WHERE (r.challenge_id IS NOT NULL) <> (c.state IN ('approved', 'denied') AND coalesce(c.method, '') <> 'text_code')
        """
}
