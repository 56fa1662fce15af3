import Foundation

/// What was spent while something ran.
package struct Spent: Sendable {
    /// How long it ran, in seconds.
    package var seconds = 0.0
    /// The CPU time of the servers, of the database's processes and of this process, in seconds.
    package var serverTime = 0.0
    package var databaseTime = 0.0
    package var generatorTime = 0.0
    /// The largest resident memory of a server at the end, in bytes.
    package var residentMemory = 0
    /// What the servers did meanwhile.
    package var served = Served()

    package init() {}

    /// The commits of the database in a second; each is one sync of the disk.
    package var commitsPerSecond: Double { Double(served.commits) / seconds }
    /// The average number of writes in a commit.
    package var writesPerCommit: Double { Double(served.writes) / Double(max(served.commits, 1)) }

    /// What was spent in two parts of a measurement.
    package static func + (left: Spent, right: Spent) -> Spent {
        var sum = left
        sum.seconds += right.seconds
        sum.serverTime += right.serverTime
        sum.databaseTime += right.databaseTime
        sum.generatorTime += right.generatorTime
        sum.residentMemory = max(left.residentMemory, right.residentMemory)
        sum.served = left.served + right.served
        return sum
    }
}

extension Deployment {
    /// Runs something, and returns with its result what was spent meanwhile.
    package func spending<Result>(_ body: () async throws -> Result) async throws -> (Result, Spent) {
        let before = try await served
        let begin = ContinuousClock.now
        let (server, database, generator) = (processorTime, databaseTime, Self.generatorTime)
        let result = try await body()
        var spent = Spent()
        spent.seconds = (ContinuousClock.now - begin).inSeconds
        spent.serverTime = processorTime - server
        spent.databaseTime = databaseTime - database
        spent.generatorTime = Self.generatorTime - generator
        spent.residentMemory = residentMemory
        spent.served = try await served.since(before)
        return (result, spent)
    }

    /// The CPU time of this process, in seconds.
    private static var generatorTime: Double {
        Double(clock()) / Double(CLOCKS_PER_SEC)
    }
}
