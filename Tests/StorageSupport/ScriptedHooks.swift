package import CountersignCore
import Synchronization

/// Hooks of custom authenticators with verdicts that a test sets.
package final class ScriptedHooks: AuthenticatorHooks {
    private struct State {
        var verdicts: [HookVerdict?] = []
        var questions: [HookQuestion] = []
        var meanwhile: (@Sendable () async throws -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// The questions that were asked, in order.
    package var questions: [HookQuestion] { state.withLock { $0.questions } }

    /// Adds the next verdict; nil for a hook that cannot be reached.
    package func say(_ verdict: HookVerdict?) {
        state.withLock { $0.verdicts.append(verdict) }
    }

    /// Runs a body while the next question is being answered.
    package func meanwhile(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.meanwhile = body }
    }

    package func ask(_ question: HookQuestion) async -> HookVerdict? {
        let (verdict, meanwhile) = state.withLock { state in
            state.questions.append(question)
            defer { state.meanwhile = nil }
            return (state.verdicts.isEmpty ? nil : state.verdicts.removeFirst(), state.meanwhile)
        }
        // A failure here shows in the test as a question without a verdict.
        do { try await meanwhile?() } catch { return nil }
        return verdict
    }
}
