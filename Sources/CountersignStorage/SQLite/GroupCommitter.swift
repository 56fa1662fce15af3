import CountersignCore
import GRDB
import Synchronization

/// Puts writes that come at the same time into one transaction, each in a savepoint of its own: one sync of the disk
/// for all of them.
///
/// What a caller is told is told after that sync.
final class GroupCommitter: Sendable {
    /// One write, and what to do when it is known whether it lasts.
    private struct Job: Sendable {
        /// Runs the write inside its savepoint.
        ///
        /// What it returns reports the result, given the fate of the commit.
        let run: @Sendable (SQLiteConnection) throws -> @Sendable ((any Error)?) -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private enum Statements {
        static let begin = SQLStatement("BEGIN IMMEDIATE")
        static let savepoint = SQLStatement("SAVEPOINT write")
        static let release = SQLStatement("RELEASE write")
        static let back = SQLStatement("ROLLBACK TO write")
        static let commit = SQLStatement("COMMIT")
        static let rollback = SQLStatement("ROLLBACK")
    }

    private struct Queue {
        var jobs: [Job] = []
        var isDraining = false
    }

    /// How many writes share a transaction at most, so that one caller's wait stays short.
    private static let maximumBatch = 256

    private let writer: DatabaseQueue
    private let statements: Mutex<SQLiteStatements>
    private let queue = Mutex(Queue())
    private let counted = Mutex(CommitCount())

    /// How much was committed so far.
    var count: CommitCount { counted.withLock { $0 } }

    /// Commits on a writer's queue.
    ///
    /// - Parameters:
    ///   - writer: the connection that writes.
    ///   - statements: the statements of the same connection.
    init(writer: DatabaseQueue, statements: sending SQLiteStatements) {
        self.writer = writer
        self.statements = Mutex(statements)
    }

    /// Runs a write and returns when it is on the disk.
    func commit<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(
                run: { connection in
                    let result = try body(connection)
                    return { failure in continuation.resume(with: failure.map { .failure($0) } ?? .success(result)) }
                },
                fail: { continuation.resume(throwing: $0) })
            let mustDrain = queue.withLock { queue in
                queue.jobs.append(job)
                defer { queue.isDraining = true }
                return !queue.isDraining
            }
            if mustDrain { writer.asyncWriteWithoutTransaction { _ in self.drain() } }
        }
    }

    /// Empties the queue, batch by batch, on the writer's own queue.
    private func drain() {
        while true {
            let batch = queue.withLock { queue -> [Job] in
                let batch = Array(queue.jobs.prefix(Self.maximumBatch))
                queue.jobs.removeFirst(batch.count)
                if batch.isEmpty { queue.isDraining = false }
                return batch
            }
            guard !batch.isEmpty else { return }
            statements.withLock { run(batch, on: SQLiteConnection(statements: $0)) }
        }
    }

    private func run(_ batch: [Job], on connection: SQLiteConnection) {
        var reports: [@Sendable ((any Error)?) -> Void] = []
        var failures: [(Job, any Error)] = []
        var commitFailure: (any Error)?
        do {
            try connection.execute(Statements.begin)
            for job in batch {
                try connection.execute(Statements.savepoint)
                do {
                    let report = try job.run(connection)
                    try connection.execute(Statements.release)
                    reports.append(report)
                } catch {
                    failures.append((job, error))
                    // A full disk, say, ends the whole transaction: there is no savepoint left to go back to, and what
                    // followed would be a transaction of its own.
                    guard connection.isInsideTransaction else { throw error }
                    try connection.execute(Statements.back)
                    try connection.execute(Statements.release)
                }
            }
            try connection.execute(Statements.commit)
            counted.withLock { [written = reports.count] count in
                count.commits += 1
                count.writes += written
            }
        } catch {
            // Nothing of the batch lasts, whichever of its writes went well.
            commitFailure = error
            if connection.isInsideTransaction { _ = try? connection.execute(Statements.rollback) }
        }
        let fate = commitFailure.map(Self.translated)
        for report in reports { report(fate) }
        for (job, error) in failures { job.fail(Self.translated(error)) }
        // A job that never ran because the transaction did not begin or did not last until its turn.
        if let fate { for job in batch.dropFirst(reports.count + failures.count) { job.fail(fate) } }
    }

    private static func translated(_ error: any Error) -> any Error {
        (error as? DatabaseError).map { StoreError($0) } ?? error
    }
}
