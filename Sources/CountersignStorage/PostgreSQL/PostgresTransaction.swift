import CountersignCore
import Foundation
import Synchronization

/// One write, however often it has to be run until it is known to be committed.
final class PostgresTransaction<Result: Sendable>: Sendable {
    typealias Outcome = (result: Result, changes: [ChangeTopic])

    /// What happens to a transaction before it is known to be committed.
    enum Event {
        /// It clashed with another and is run again.
        case clash
        /// Its COMMIT got no reply, and the server is asked what became of it.
        case lookup
    }

    private struct State {
        var runs: Int64 = 0
        /// What each run comes to whose COMMIT was sent and got no reply.
        var inDoubt: [Int64: Outcome] = [:]
    }

    /// How often a transaction that clashed is run at most.
    private static var maximumRuns: Int { 50 }

    /// Its number, the same for every run.
    private let id: String
    private let deadline: ContinuousClock.Instant
    /// Is told of each event.
    private let note: @Sendable (Event) -> Void
    private let state = Mutex(State())

    init(id: String, deadline: ContinuousClock.Instant, note: @escaping @Sendable (Event) -> Void) {
        self.id = id
        self.deadline = deadline
        self.note = note
    }

    /// Whether a COMMIT was sent that got no reply, so that nobody knows whether the transaction lasts.
    var isInDoubt: Bool { state.withLock { !$0.inDoubt.isEmpty } }

    /// Runs it, again where it clashed with others.
    ///
    /// When the connection breaks it throws, and is to be run on another one: if COMMIT had been sent before, it looks
    /// first what became of it.
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
                // An operation that found what it had looked up changed under its hands.
                clashes += 1
                note(.clash)
            } catch let failure as PostgresFailure {
                guard connection.isUsable, ContinuousClock.now < deadline else { throw failure }
                if failure.isClash, clashes < Self.maximumRuns {
                    clashes += 1
                    note(.clash)
                    Thread.sleep(forTimeInterval: .random(in: 0...0.002) * Double(min(clashes, 16)))
                } else if failure.isDuplicate, duplicates == 0 {
                    // Where another transaction made the duplicate meanwhile, the next run sees it before it inserts.
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
                try connection.send(
                    PostgresCommits.leave, [.text(id), .integer(run), .text(topics.words)])
            }
            return (result, topics)
        }
    }

    /// Learns what became of an earlier run; does it again if nothing did.
    private func settle(
        _ body: (any SQLConnection) throws -> (Result, changes: [ChangeTopic]), on connection: PostgresConnection
    ) throws -> Outcome {
        note(.lookup)
        var isCommitted = false
        do {
            // Should the server still be at the earlier COMMIT, or not have come to it, only one of the two gets through.
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
        // A commit of its own is acknowledged only when a replica has all that was committed before.
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

    /// One run: begins, does something, commits.
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
                // The server said no: this run has left nothing.
                state.withLock { $0.inDoubt[run] = nil }
                try connection.abandon(by: PostgresEngine.rollback)
            }
            throw error
        }
    }
}
