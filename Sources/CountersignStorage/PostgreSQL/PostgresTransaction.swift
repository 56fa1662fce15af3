import CountersignCore
import Foundation
import Synchronization

/// A write transaction, run as often as needed until it is known to be committed.
final class PostgresTransaction<Result: Sendable>: Sendable {
    typealias Outcome = (result: Result, changes: [ChangeTopic])

    /// Something that delays the commit of a transaction.
    enum Event {
        /// It conflicted with another transaction and is run again.
        case clash
        /// Its COMMIT got no reply, and the server is asked whether it took place.
        case lookup
    }

    private struct State {
        var runs: Int64 = 0
        /// The outcome of each run whose COMMIT was sent and got no reply.
        var inDoubt: [Int64: Outcome] = [:]
    }

    /// How often a transaction that conflicts with others is repeated at most.
    private static var maximumRuns: Int { 50 }

    /// The transaction's id, the same for every run.
    private let id: String
    private let deadline: ContinuousClock.Instant
    /// Called for each event.
    private let note: @Sendable (Event) -> Void
    private let state = Mutex(State())

    init(id: String, deadline: ContinuousClock.Instant, note: @escaping @Sendable (Event) -> Void) {
        self.id = id
        self.deadline = deadline
        self.note = note
    }

    /// Whether a COMMIT got no reply, so that it is unknown whether the transaction was committed.
    var isInDoubt: Bool { state.withLock { !$0.inDoubt.isEmpty } }

    /// Runs the transaction, and repeats it after conflicts.
    ///
    /// It throws when the connection breaks; run it again on another connection then. If a COMMIT was already sent, the
    /// next call first finds out whether it took place.
    func run(
        _ body: (any SQLConnection) throws -> (Result, changes: [ChangeTopic]), on connection: PostgresConnection
    ) throws -> Outcome {
        var clashes = 0
        var duplicates = 0
        while true {
            do {
                return try isInDoubt
                    ? settle(body, on: connection) : runOnce(body, on: connection)
            } catch StoreError.serializationFailure where clashes < Self.maximumRuns {
                // The operation found that a row it had read before has changed.
                clashes += 1
                note(.clash)
            } catch let failure as PostgresFailure {
                guard connection.isUsable, ContinuousClock.now < deadline else { throw failure }
                if failure.isClash, clashes < Self.maximumRuns {
                    clashes += 1
                    note(.clash)
                    Thread.sleep(forTimeInterval: .random(in: 0...0.002) * Double(min(clashes, 16)))
                } else if failure.isDuplicate, duplicates == 0 {
                    // If a concurrent transaction inserted the duplicate, the next run sees it before it inserts.
                    duplicates += 1
                } else {
                    throw failure
                }
            }
        }
    }

    private func runOnce(
        _ body: (any SQLConnection) throws -> (Result, changes: [ChangeTopic]), on connection: PostgresConnection
    ) throws -> Outcome {
        try attempt(on: connection) { run in
            let (result, topics) = try body(connection)
            if connection.hasWritten || !topics.isEmpty {
                try connection.leaveCommit([.text(id), .integer(run), .text(topics.words)])
            }
            return (result, topics)
        }
    }

    /// Finds out whether an earlier run was committed, and runs the transaction again if not.
    private func settle(
        _ body: (any SQLConnection) throws -> (Result, changes: [ChangeTopic]), on connection: PostgresConnection
    ) throws -> Outcome {
        note(.lookup)
        var isCommitted = false
        do {
            // If the server has not finished or even received the earlier COMMIT, only one of the two transactions
            // succeeds.
            return try attempt(on: connection) { run in
                do {
                    try connection.execute(PostgresCommits.leave, [.text(id), .integer(run), .text("")])
                } catch let failure as PostgresFailure {
                    isCommitted = failure.isDuplicate
                    throw failure
                }
                let (result, topics) = try body(connection)
                if !topics.isEmpty {
                    try connection.send(PostgresCommits.addNotices, [.text(id), .text(topics.words)])
                }
                return (result, topics)
            }
        } catch let failure as PostgresFailure {
            guard isCommitted, connection.isUsable else { throw failure }
        }
        // A commit is acknowledged only when the replicas have everything that was committed before it. So a new commit
        // proves that the earlier one has reached them.
        try connection.begin(PostgresEngine.beginWrite)
        let run = try connection.rows(PostgresCommits.run, [.text(id)]).first?.integer(0)
        try connection.send(
            PostgresCommits.leave,
            [.text("\(id)-\(run ?? 0)-\(UInt32.random(in: 0...(.max)))"), .integer(0), .text("")])
        try connection.commit(PostgresEngine.commit)
        guard let run, let outcome = state.withLock({ $0.inDoubt[run] }) else {
            throw StoreError.engine("the table of commits does not know a transaction it has")
        }
        return outcome
    }

    /// Runs the transaction once: begin, body, commit.
    private func attempt(on connection: PostgresConnection, _ body: (Int64) throws -> Outcome) throws -> Outcome {
        let run = state.withLock { state in
            state.runs += 1
            return state.runs
        }
        do {
            try connection.begin(PostgresEngine.beginWrite)
            let outcome = try body(run)
            guard connection.hasWritten || !outcome.changes.isEmpty else {
                try connection.commit(PostgresEngine.commit)
                return outcome
            }
            state.withLock { $0.inDoubt[run] = outcome }
            try connection.commit(PostgresEngine.commit)
            return outcome
        } catch {
            if connection.isUsable {
                // The server refused, so this run has left nothing behind.
                state.withLock { $0.inDoubt[run] = nil }
                try connection.abandon(by: PostgresEngine.rollback)
            }
            throw error
        }
    }
}
