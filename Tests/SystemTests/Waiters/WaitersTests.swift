import AsyncHTTPClient
import BenchmarkSupport
import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// Many clients wait on their own connections: measures the memory of each, and checks that all are notified.
@Suite("Thousands wait at a time, and all are notified")
struct WaitersTests {
    /// The most memory that one waiting request may take, in bytes.
    private static let limit = 22 * 1024
    /// With fewer waiting requests, the server's memory at the start exceeds theirs.
    private static let measurable = 2000

    @Test("Half wait for the end of a challenge, half for a device's next one; each costs at most 22 KB")
    func wait() async throws {
        let count = ProcessInfo.processInfo.environment["COUNTERSIGN_WAITERS"].flatMap { Int($0) } ?? 200
        let folder = try TemporaryFolder()
        let port = FreePort.next()
        let keeper = try ServerKeeper(folder: folder, port: port)
        let http = PersistentCaller.makeClient()
        let polls = Polls(port: port)
        do {
            try await keeper.start()
            try await run(count, keeper, PersistentCaller(keeper: keeper, http: http, ledger: Ledger()), polls)
        } catch {
            Issue.record("\(error); the server's last words: \(await keeper.lastWords)")
        }
        try await polls.close()
        try? await keeper.stop()
        try await http.shutdown()
    }

    private func run(_ count: Int, _ keeper: ServerKeeper, _ caller: PersistentCaller, _ polls: Polls) async throws {
        let stage = try await WaitersStage(polls: count, caller: caller, data: keeper.data)
        let usage = MeasuredProcess(id: try #require(await keeper.processID))
        // A few requests first create what the server creates only once.
        for index in 0..<20 { try await polls.open(try await stage.request(index)) }
        try await usage.idle()
        let before = usage.residentMemory
        let begin = ContinuousClock.now
        for index in 20..<count { try await polls.open(try await stage.request(index)) }
        try await usage.idle()
        let opened = ContinuousClock.now - begin
        let each = (usage.residentMemory - before) / (count - 20)
        #expect(polls.statuses == [:], "nobody is answered before there are news")
        let share = try await Self.share(of: usage, while: count)
        let processor = usage.processorTime
        let wake = ContinuousClock.now
        try await stage.tellAll()
        await polls.replies(count)
        let told = ContinuousClock.now - wake
        try await usage.idle()
        let cost = (usage.processorTime - processor) / Double(count)
        print(
            """
            waiters: \(count) on connections of their own, opened in \(opened), \(each) bytes of memory each
            waiters: while they wait, the server uses \(String(format: "%.2f", share * 100)) % of a processor
            waiters: all told within \(told), \(Int(cost * 1_000_000)) µs of the server's processor time each
            """)
        if count >= Self.measurable {
            print(Aim.atMost(12, "KiB", "memory of a waiting device", Double(each) / 1024).text)
            print(Aim.atMost(0.2, "%", "processor while \(count) wait", share * 100).text)
        }
        #expect(polls.statuses == [200: count])
        #expect(count < Self.measurable || each <= Self.limit)
        // In two seconds a tick of the clock, a hundredth of a second, is half a percent.
        #expect(share <= (count < Self.measurable ? 0.02 : 0.005))
    }

    /// The part of a processor that the server uses while nothing happens.
    private static func share(of usage: MeasuredProcess, while count: Int) async throws -> Double {
        // The first of many waits began some seconds ago, and must not end.
        let time = Duration.seconds(count < measurable ? 2 : 40)
        let before = usage.processorTime
        try await Task.sleep(for: time)
        return (usage.processorTime - before) / (time / .seconds(1))
    }
}
