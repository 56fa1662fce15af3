package import CountersignCore
package import CountersignStorage
import CountersignWire
import Logging

/// The recurring work of a server: it ends expired challenges, and deletes data that is no longer needed or whose
/// retention period is over.
package struct Maintenance: Sendable {
    private static let pause = Duration.milliseconds(500)
    private static let sweepEvery = 20
    private static let batch = 500
    private static let resealSteps = 10
    /// Every `askEvery` rounds a server claims this work for the time of `turn`, so that only one server does it.
    private static let askEvery = 4
    private static let turn: Seconds = 6

    private let ports: Ports
    private let store: SQLStore
    private let retention: Retention

    package init(ports: Ports, store: SQLStore, retention: Retention) {
        self.ports = ports
        self.store = store
        self.retention = retention
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        var round = 0
        var isOurs = false
        var resealing = Resealing()
        while true {
            try await ports.clock.sleep(for: Self.pause)
            let count = store.commitCount
            ports.logger.trace(
                "storage",
                metadata: [
                    "commits": "\(count.commits)", "writes": "\(count.writes)", "clashes": "\(count.clashes)",
                ])
            do {
                // A server without usable keys could do none of this work, and must not keep other servers from it.
                try store.checkKeys()
                if round.isMultiple(of: Self.askEvery) {
                    isOurs = try await store.takesTurn(at: "maintenance", for: Self.turn)
                }
                round += 1
                guard isOurs else { continue }
                try await ExpireChallenges.sweep(ports: ports)
                try await TellWaits.sweep(ports: ports)
                try await ConfirmWaiting.sweep(ports: ports)
                try await reseal(&resealing)
                if round.isMultiple(of: Self.sweepEvery) { try await sweep() }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                isOurs = false
                round = 0
                ports.logger.error("maintenance failed", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Seals some more data under a new key, if the sealing key is being changed.
    private func reseal(_ resealing: inout Resealing) async throws {
        for _ in 0..<Self.resealSteps {
            switch try await resealing.step(in: store, at: ports.time.now) {
            case .promoted: ports.logger.notice("what is sealed is sealed under a new key from now on")
            case .finished: ports.logger.notice("everything is sealed under the new key")
            case .resealed: break
            case nil: return
            }
        }
    }

    private func sweep() async throws {
        try await DeleteClient.sweep(ports: ports)
        let now = ports.time.now
        try await ForgetUndecided.sweep(at: now, ports: ports)
        while try await ports.store.commit({ try $0.retention.sweep(now: now, limit: Self.batch) }) >= Self.batch {}
        try await EraseUser.sweep(ports: ports)
        try await SweepKept.sweep(retention, ports: ports)
        try await RotateIssuerKey.sweep(ports: ports)
    }
}
