import CountersignCore
import Foundation
import Logging
import Synchronization

/// A pool of threads that each hold one connection and run jobs in the order of arrival.
///
/// A thread takes a job only when it has a connection. So while the database is away, waiting jobs fail at their own
/// deadlines and not when their turns come.
final class PostgresPool: Sendable {
    /// Work for the connection that is free first.
    struct Job: Sendable {
        /// Does the work; returns false when the connection broke before the work was done, so that it must run again.
        let run: @Sendable (PostgresConnection) -> Bool
        /// Called when no connection was available in time.
        let giveUp: @Sendable () -> Void
        /// When to give up.
        let deadline: @Sendable () -> ContinuousClock.Instant
        /// When it was submitted.
        let since = ContinuousClock.now
    }

    private struct State {
        var jobs: [Job] = []
        /// The index of the first waiting job; the jobs before it were taken.
        var first = 0
        var isClosed = false
        var openConnections = 0
        var busyConnections = 0
        var failures = 0
        var nextAttempt = ContinuousClock.now
        /// Since when connecting has failed; nil after a successful connection or a job that left its connection
        /// usable.
        var awaySince: ContinuousClock.Instant?

        mutating func next() -> Job? {
            guard first < jobs.count else { return nil }
            defer {
                first += 1
                if first == jobs.count || first > 1024 {
                    jobs.removeFirst(first)
                    first = 0
                }
            }
            return jobs[first]
        }
    }

    /// The first and the longest pause between attempts to connect, in milliseconds.
    private static let pauses = (first: 50.0, longest: 1000.0)
    /// How long the database may be away before operations wait for it only briefly.
    private static let surprise = Duration.seconds(5)

    private let address: PostgresAddress
    private let logger: Logger
    private let state = Mutex(State())
    private let condition = NSCondition()

    /// Starts the threads; each connects when there is work.
    init(_ address: PostgresAddress, count: Int, logger: Logger) {
        self.address = address
        self.logger = logger
        for number in 1...count { start("postgres-\(number)") { [self] in work() } }
        start("postgres-time") { [self] in watchDeadlines() }
    }

    private func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    /// Whether the database has been away for so long that operations should wait only briefly.
    var isAway: Bool {
        state.withLock { state in state.awaySince.map { ContinuousClock.now - $0 > Self.surprise } ?? false }
    }

    /// The state of the connections and of the queue.
    var status: PoolStatistics {
        state.withLock { state in
            let waiting = state.jobs[state.first...]
            return PoolStatistics(
                openConnections: state.openConnections, busyConnections: state.busyConnections,
                waitingJobs: waiting.count,
                longestWait: waiting.map(\.since).min().map { ContinuousClock.now - $0 } ?? .zero,
                isAway: state.awaySince != nil)
        }
    }

    func submit(_ job: Job) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.jobs.append(job) }
            return state.isClosed
        }
        if isClosed { return job.giveUp() }
        condition.withLock { condition.signal() }
    }

    /// Ends the threads when every submitted job is done or has reached its deadline.
    func close() {
        state.withLock { $0.isClosed = true }
        condition.withLock { condition.broadcast() }
    }

    private func work() {
        var connection: PostgresConnection? {
            didSet {
                let change = (connection == nil ? 0 : 1) - (oldValue == nil ? 0 : 1)
                if change != 0 { state.withLock { $0.openConnections += change } }
            }
        }
        while waitForWork() {
            connection?.checkForEnd()
            if connection?.isUsable != true { connection = connect() }
            guard let usable = connection, let job = next() else { continue }
            let isDone = job.run(usable)
            state.withLock { state in
                state.busyConnections -= 1
                // It was the first job, and becomes the first again.
                if !isDone { state.jobs.insert(job, at: state.first) }
                if usable.isUsable { state.awaySince = nil }
            }
            if !usable.isUsable { connection = nil }
        }
        connection = nil
    }

    /// Takes the next job, and counts a connection as busy.
    private func next() -> Job? {
        state.withLock { state in
            let job = state.next()
            if job != nil { state.busyConnections += 1 }
            return job
        }
    }

    /// Waits until there is work; returns false when the pool is closed and there is none left.
    private func waitForWork() -> Bool {
        condition.withLock {
            while true {
                let (hasWork, isClosed) = state.withLock { ($0.first < $0.jobs.count, $0.isClosed) }
                if hasWork { return true }
                if isClosed { return false }
                condition.wait()
            }
        }
    }

    /// Connects, if it is time for another attempt.
    private func connect() -> PostgresConnection? {
        let pause = state.withLock { $0.nextAttempt - .now }
        if pause > .zero {
            Thread.sleep(forTimeInterval: min(pause.inSeconds, 0.1))
            return nil
        }
        do throws(PostgresFailure) {
            let connection = try PostgresConnection(to: address)
            let wasAway = state.withLock { state in
                defer { state.awaySince = nil }
                state.failures = 0
                return state.awaySince != nil
            }
            if wasAway { logger.notice("database is back", metadata: ["database": "\(address)"]) }
            return connection
        } catch {
            let isNews = state.withLock { state in
                defer { state.awaySince = state.awaySince ?? .now }
                state.failures += 1
                let longest = min(Self.pauses.first * pow(2, Double(min(state.failures, 10))), Self.pauses.longest)
                state.nextAttempt = .now + .milliseconds(.random(in: longest / 2...longest))
                return state.awaySince == nil
            }
            if isNews {
                logger.error(
                    "database is away", metadata: ["database": "\(address)", "error": "\(error.message)"])
            }
            return nil
        }
    }

    /// Fails the jobs whose deadline has passed.
    private func watchDeadlines() {
        while true {
            Thread.sleep(forTimeInterval: 0.1)
            let (late, isOver) = state.withLock { state in
                let now = ContinuousClock.now
                state.jobs.removeFirst(state.first)
                state.first = 0
                let late = state.jobs.filter { $0.deadline() <= now }
                if !late.isEmpty { state.jobs.removeAll { $0.deadline() <= now } }
                return (late, state.isClosed && state.jobs.isEmpty)
            }
            for job in late { job.giveUp() }
            if isOver {
                condition.withLock { condition.broadcast() }
                return
            }
        }
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
