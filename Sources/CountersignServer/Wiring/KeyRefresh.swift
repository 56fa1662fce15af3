package import CountersignCore
package import CountersignStorage
import CountersignWire
package import Logging

/// Reads the keys again when a notification reports a change, and every 20 seconds.
///
/// Other servers and commands change the keys. Keys that could not be read for a minute are no longer used, see
/// ``SQLStore/letKeysAge()``.
package struct KeyRefresh: Sendable {
    private static let pause = Duration.seconds(20)
    private static let pauseAfterFailure = Duration.seconds(1)
    private static let longestPause = 16

    private let store: SQLStore
    private let changes: any ChangeNotifier
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let masterKey: @Sendable () throws -> MasterKey

    /// Creates a refresher for the keys of a store.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - changes: notifies of changed keys.
    ///   - clock: times the pauses.
    ///   - logger: the log for failures.
    ///   - masterKey: reads the master key from its source, where it may have been replaced.
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

    /// Runs until the task is cancelled.
    package func run() async throws {
        store.letKeysAge()
        try await withThrowingTaskGroup { group in
            group.addTask {
                let subscription = changes.subscribe(to: .keys)
                while true {
                    try await subscription.wait(until: Timestamp(milliseconds: .max))
                    // After a failure, the other loop tries again.
                    try? await store.refreshKeys(masterKey: masterKey)
                }
            }
            group.addTask {
                var failures = 0
                while true {
                    // Reading the master key may run a command of the operator, so it is not repeated every second for
                    // ever.
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
