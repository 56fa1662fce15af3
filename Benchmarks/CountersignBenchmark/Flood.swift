import BenchmarkSupport
import Countersign
import Encodings
import Foundation
import NIOHTTP1
import Synchronization

/// Cycles that begin at a fixed rate, whatever became of those before.
final class Flood: Sendable {
    private struct State {
        var idle: [Pair]
        var result = FloodResult()
        var acknowledged: [(pair: Pair, id: String)] = []
        var isMeasuring = false
    }

    /// How long a cycle that was refused on its way waits, as `Retry-After` says.
    private static let pause = Duration.seconds(1)

    private let state: Mutex<State>
    private let exchanges: Exchanges

    init(_ pairs: [Pair], _ exchanges: Exchanges) {
        self.exchanges = exchanges
        state = Mutex(State(idle: pairs.shuffled()))
    }

    /// For how many seconds the rate rises before it is measured, so that not all connections are opened at once.
    private static let warmup = 20.0
    /// For how many seconds cycles run before the peak is measured.
    private static let peakWarmup = 3.0

    /// The cycles a second of some workers, each of which begins the next when one has ended, with all users in turn.
    func peak(of workers: Int, seconds: Double) async throws -> Double {
        let end = ContinuousClock.now + .seconds(Self.peakWarmup + seconds)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    while ContinuousClock.now < end, let pair = self.state.withLock({ $0.idle.popLast() }) {
                        try await self.cycle(of: pair)
                    }
                }
            }
            try await Task.sleep(for: .seconds(Self.peakWarmup))
            state.withLock { $0.isMeasuring = true }
            try await Task.sleep(until: end)
            let cycles = state.withLock { state in
                state.isMeasuring = false
                defer { state.result = FloodResult() }
                return state.result.cycles
            }
            try await group.waitForAll()
            return Double(cycles) / seconds
        }
    }

    /// Begins cycles at a rate that rises, then for `seconds` at the rate that is measured; then lets those under way
    /// end.
    func run(rate: Double, seconds: Double, on deployment: Deployment) async throws -> FloodResult {
        let warmup = Self.warmup
        return try await withThrowingTaskGroup(of: Void.self) { group in
            let begin = ContinuousClock.now
            var begun = 0
            var time = (server: 0.0, at: begin)
            while true {
                let elapsed = (ContinuousClock.now - begin).inSeconds
                if elapsed >= warmup + seconds { break }
                if elapsed >= warmup, !state.withLock({ $0.isMeasuring }) {
                    time = (deployment.processorTime, .now)
                    exchanges.begin()
                    state.withLock { $0.isMeasuring = true }
                }
                let risen = min(elapsed, warmup)
                while Double(begun) < rate * (risen * risen / warmup / 2 + elapsed - risen) {
                    begun += 1
                    let pair = state.withLock { state in
                        if state.isMeasuring { state.result.wanted += 1 }
                        return state.idle.popLast()
                    }
                    guard let pair else {
                        note { $0.left += 1 }
                        continue
                    }
                    group.addTask { try await self.cycle(of: pair) }
                }
                try await Task.sleep(for: .milliseconds(2))
            }
            state.withLock { state in
                state.isMeasuring = false
                state.result.seconds = (ContinuousClock.now - time.at).inSeconds
                state.result.serverTime = deployment.processorTime - time.server
                state.result.memory = deployment.residentMemory
            }
            // The slowest requests are still under way.
            exchanges.stop()
            try await group.waitForAll()
            return state.withLock { state in
                state.result.exchanges = exchanges.times
                return state.result
            }
        }
    }

    /// How many answers were acknowledged to a phone and are not known to the portal.
    func lost() async throws -> Int {
        var lost = 0
        for (pair, id) in state.withLock({ $0.acknowledged }) {
            let challenge = try await pair.portal.call(.GET, "/v1/challenges/\(id)")
            if challenge["state"] != "approved" { lost += 1 }
        }
        return lost
    }

    private func cycle(of pair: Pair) async throws {
        defer { state.withLock { $0.idle.insert(pair, at: 0) } }
        let question = pair.kind.question(to: pair.user, calling: pair.receiver)
        let asked = try await pair.portal.exchange(.POST, "/v1/challenges", question)
        // The portal tells its user to try again later.
        if asked.status == 503, asked.retryAfter != nil { return note { $0.refused += 1 } }
        guard asked.status == 201, let id = asked.body["id"]?.string else {
            throw Unexpected(description: "asked: \(asked)")
        }
        async let told: Void = told(id, pair)
        // A push has told the phone at once.
        let opened = try await again { () async throws -> OpenedChallenge? in
            let pending = try await pair.phone.pendingChallenges()
            guard let challenge = pending.first(where: { "\($0.id)" == id }) else {
                throw Unexpected(description: "\(id) is not among the \(pending.count) pending")
            }
            return try await challenge.open()
        }
        guard let opened else { return }
        _ = try await again { () async throws -> Bool? in
            try await opened.approve(with: .confirmation, number: asked.body["number"]?.string)
            return true
        }
        state.withLock { $0.acknowledged.append((pair, id)) }
        try await told
        note { $0.cycles += 1 }
    }

    /// Waits until the portal knows the end.
    private func told(_ id: String, _ pair: Pair) async throws {
        while true {
            let reply = try await pair.portal.exchange(.GET, "/v1/challenges/\(id)?wait=60")
            switch reply.status {
            case 200:
                if reply.body["state"] != "pending" { return }
            case 503: try await Task.sleep(for: Self.pause)
            default: throw Unexpected(description: "wait: \(reply)")
            }
        }
    }

    /// Runs a step of the phone until the server takes it on.
    private func again<Result>(_ step: () async throws -> Result?) async throws -> Result? {
        while true {
            do { return try await step() } catch let error as CountersignError where error.retryHelps {
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    private func note(_ change: (inout FloodResult) -> Void) {
        state.withLock { state in if state.isMeasuring { change(&state.result) } }
    }
}

/// What became of cycles that began at a fixed rate.
struct FloodResult: Sendable {
    /// The cycles that should have begun.
    var wanted = 0
    /// The cycles that ended with an approval that the portal knows.
    var cycles = 0
    var seconds = 0.0
    var serverTime = 0.0
    var memory = 0
    /// The questions that were refused, as the server had too much to do.
    var refused = 0
    /// The cycles that did not begin, because every user had one under way.
    var left = 0
    var exchanges = Exchanges.Times()

    /// The cycles in a second.
    var rate: Double { cycles == 0 ? 0 : Double(cycles) / seconds }

    /// The result for people.
    func text(peak: Double, on engine: String) -> String {
        func milliseconds(_ times: [Double]) -> String {
            [0.5, 0.95, 0.99].map { String(format: "%.1f", times.quantile($0) * 1000) }.joined(separator: ", ")
        }
        return """
            Overload, \(engine): at the peak \(String(format: "%.0f", peak)) cycles/s; \
            \(String(format: "%.0f", Double(wanted) / seconds)) a second begun, \(String(format: "%.0f", rate)) ended \
            (\(String(format: "%.2f", rate / peak)) of the peak)
              questions refused: \(refused), cycles not begun as all users had one: \(left)
              requests refused: \(exchanges.refused.count), after p50, p95, p99 \(milliseconds(exchanges.refused)) ms
              requests accepted: \(exchanges.accepted.count), after \(milliseconds(exchanges.accepted)) ms
              server CPU \(String(format: "%.0f", serverTime / seconds * 100)) % of a processor, memory \
            \(memory / 1_000_000) MB
            """
    }
}
