import CountersignCore
import CountersignStorage
import CountersignWire
import Logging

/// Reads the keys again, because other servers and commands change them: when one says so, and every 20 seconds.
///
/// Keys that could not be read for a minute are used no more, see ``SQLStore/letKeysAge()``.
struct KeyRefresh: Sendable {
    private static let pause = Duration.seconds(20)
    private static let pauseAfterFailure = Duration.seconds(1)

    let store: SQLStore
    let wakes: any Wakes
    let logger: Logger
    /// Reads the master key where it is kept: it may have been replaced.
    let masterKey: @Sendable () throws -> MasterKey

    func run() async throws {
        store.letKeysAge()
        try await withThrowingTaskGroup { group in
            group.addTask {
                let changes = wakes.subscribe(to: .keys)
                while true {
                    try await changes.wait(until: Timestamp(milliseconds: .max))
                    // Where it fails, the other loop tries again.
                    try? await store.refreshKeys(masterKey: masterKey)
                }
            }
            group.addTask {
                var isFailing = false
                while true {
                    try await Task.sleep(for: isFailing ? Self.pauseAfterFailure : Self.pause)
                    isFailing = await !refresh(afterFailure: isFailing)
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
