package import CountersignCore
import CountersignWire

extension ChangeSubscription {
    /// Whether a notice has come since the last wait; does not wait for one, and takes it.
    ///
    /// A wait in a cancelled task returns only for a notice that is there already.
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
