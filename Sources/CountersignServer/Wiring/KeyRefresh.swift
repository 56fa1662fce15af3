package import CountersignCore
package import CountersignStorage
import CountersignWire
package import Logging

/// Reads the keys again, because other servers and commands change them: when one says so, and every 20 seconds.
///
/// Keys that could not be read for a minute are used no more, see ``SQLStore/letKeysAge()``.
package struct KeyRefresh: Sendable {
    private static let pause = Duration.seconds(20)
    private static let pauseAfterFailure = Duration.seconds(1)
    private static let longestPause = 16

    private let store: SQLStore
    private let changes: any ChangeNotifier
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let masterKey: @Sendable () throws -> MasterKey

    /// What reads a store's keys again.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - changes: who tells of changes.
    ///   - clock: by what pauses last.
    ///   - logger: where failures are told of.
    ///   - masterKey: reads the master key where it is kept: it may have been replaced.
    package init(
        store: SQLStore, changes: any ChangeNotifier, clock: any Clock<Duration> = ContinuousClock(), logger: Logger,
        masterKey: @escaping @Sendable () throws -> MasterKey
    ) {
        self.store = store
        self.changes = changes
        self.clock = clock
        self.logger = logger
        self.masterKey = masterKey
    }

    /// Does it until the task is cancelled.
    package func run() async throws {
        store.letKeysAge()
        try await withThrowingTaskGroup { group in
            group.addTask {
                let subscription = changes.subscribe(to: .keys)
                while true {
                    try await subscription.wait(until: Timestamp(milliseconds: .max))
                    // Where it fails, the other loop tries again.
                    try? await store.refreshKeys(masterKey: masterKey)
                }
            }
            group.addTask {
                var failures = 0
                while true {
                    // Reading the master key may be a command of the operator's: it is not run every second for ever.
                    let pause = Self.pauseAfterFailure * min(1 << max(failures - 1, 0), Self.longestPause)
                    try await clock.sleep(for: failures == 0 ? Self.pause : pause)
                    failures = await refresh(afterFailure: failures > 0) ? 0 : min(failures + 1, Self.longestPause)
                }
            }
            try await group.waitForAll()
        }
    }

    private func refresh(afterFailure isFailing: Bool) async -> Bool {
        do {
            try await store.refreshKeys(masterKey: masterKey)
            if isFailing { logger.notice("the keys were read again") }
            return true
        } catch {
            if !isFailing {
                logger.error(
                    "the keys cannot be read again: after a minute nothing is signed, opened or sealed",
                    metadata: ["error": "\(error)"])
            }
            return false
        }
    }
}
