package import CountersignCore
import CountersignWire

extension ChangeSubscription {
    /// Whether a notification has arrived since the last wait; takes the notification without waiting.
    ///
    /// In a cancelled task, a wait returns normally only if a notification has arrived already.
    package func takeNotice() async throws -> Bool {
        let probe = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await wait(until: Timestamp(milliseconds: .max))
        }
        do {
            try await probe.value
            return true
        } catch is CancellationError {
            return false
        }
    }
}
