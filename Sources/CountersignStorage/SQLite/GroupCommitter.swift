import CountersignCore
import GRDB
import Synchronization

/// Groups concurrent writes into one transaction, each in its own savepoint, so that they share one sync of the disk.
///
/// Each caller gets its result only after that sync.
final class GroupCommitter: Sendable {
    /// A write, and how its caller is notified of the result.
    private struct Job: Sendable {
        /// Runs the write inside its savepoint.
        ///
        /// It returns a closure that reports the result to the caller, given the error of the commit or nil.
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

    /// The maximum number of writes in one transaction, so that no caller waits long.
    private static let maximumBatch = 256

    private let writer: DatabaseQueue
    private let statements: Mutex<SQLiteStatements>
    private let queue = Mutex(Queue())
    private let counted = Mutex(CommitCount())

    var count: CommitCount { counted.withLock { $0 } }

    /// - Parameters:
    ///   - writer: the connection that writes.
    ///   - statements: the prepared statements of the same connection.
    init(writer: DatabaseQueue, statements: sending SQLiteStatements) {
        self.writer = writer
        self.statements = Mutex(statements)
    }

    /// Runs a write, and returns when it is durable.
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

    /// Runs the queued jobs in batches, on the writer's dispatch queue.
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
                    // Some errors, such as a full disk, end the whole transaction. Then there is no savepoint to roll
                    // back to, and further statements would run outside the transaction.
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
            // No write of the batch is durable, whether or not it succeeded by itself.
            commitFailure = error
            if connection.isInsideTransaction { _ = try? connection.execute(Statements.rollback) }
        }
        let fate = commitFailure.map(Self.translated)
        for report in reports { report(fate) }
        for (job, error) in failures { job.fail(Self.translated(error)) }
        // These jobs never ran, because the transaction did not begin or ended before their turn.
        if let fate { for job in batch.dropFirst(reports.count + failures.count) { job.fail(fate) } }
    }

    private static func translated(_ error: any Error) -> any Error {
        (error as? DatabaseError).map { StoreError($0) } ?? error
    }
}
