import CountersignCore
import Foundation
import Logging
import Synchronization

/// Threads that each hold one connection and take up work in the order it came.
///
/// Nobody takes up work without a connection, so what waits while the database is away is told so when its time is up,
/// not when its turn comes.
final class PostgresPool: Sendable {
    /// Work for whichever connection is free first.
    struct Job: Sendable {
        /// Does the work; false when the connection broke before it was done, and it is to be done again.
        let run: @Sendable (PostgresConnection) -> Bool
        /// Is told that no connection was to be had in time.
        let giveUp: @Sendable () -> Void
        /// Until when to try.
        let deadline: @Sendable () -> ContinuousClock.Instant
        /// Since when it waits to be done.
        let since = ContinuousClock.now
    }

    private struct State {
        var jobs: [Job] = []
        /// Where the first job stands; those before it are done.
        var first = 0
        var isClosed = false
        var openConnections = 0
        var busyConnections = 0
        var failures = 0
        var nextAttempt = ContinuousClock.now
        /// Since when nobody could connect, and nobody did any work on a connection that was there.
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

    /// The pauses between attempts to connect, in milliseconds: the first, the longest.
    private static let pauses = (first: 50.0, longest: 1000.0)
    /// How long the database may be away until work waits for it no longer than a moment.
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

    /// Whether the database has been away for so long that nobody should wait for it.
    var isAway: Bool {
        state.withLock { state in state.awaySince.map { ContinuousClock.now - $0 > Self.surprise } ?? false }
    }

    /// How its connections and what waits for them stand.
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

    /// Hands over work.
    func submit(_ job: Job) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.jobs.append(job) }
            return state.isClosed
        }
        if isClosed { return job.giveUp() }
        condition.withLock { condition.signal() }
    }

    /// Ends the threads when what was handed over is done or its time is up.
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
                // It was the first: it is so again.
                if !isDone { state.jobs.insert(job, at: state.first) }
                if usable.isUsable { state.awaySince = nil }
            }
            if !usable.isUsable { connection = nil }
        }
        connection = nil
    }

    /// The next work for a connection, which is busy from now on.
    private func next() -> Job? {
        state.withLock { state in
            let job = state.next()
            if job != nil { state.busyConnections += 1 }
            return job
        }
    }

    /// Waits until there is work; false when there will be none.
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

    /// Connects, when it is time for another attempt.
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

    /// Tells those whose time is up.
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
    /// The duration in seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
