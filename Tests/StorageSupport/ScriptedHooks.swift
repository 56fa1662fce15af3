package import CountersignCore
import Synchronization

/// Hooks of custom authenticators that say what a test wants.
package final class ScriptedHooks: AuthenticatorHooks {
    private struct State {
        var verdicts: [HookVerdict?] = []
        var questions: [HookQuestion] = []
        var meanwhile: (@Sendable () async throws -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// What was asked, in order.
    package var questions: [HookQuestion] { state.withLock { $0.questions } }

    /// Adds what is said next; nil for a hook that cannot be asked.
    package func say(_ verdict: HookVerdict?) {
        state.withLock { $0.verdicts.append(verdict) }
    }

    /// Does something while the next question is with its hook.
    package func meanwhile(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.meanwhile = body }
    }

    package func ask(_ question: HookQuestion) async -> HookVerdict? {
        let (verdict, meanwhile) = state.withLock { state in
            state.questions.append(question)
            defer { state.meanwhile = nil }
            return (state.verdicts.isEmpty ? nil : state.verdicts.removeFirst(), state.meanwhile)
        }
        // A failure here shows as a question that was asked and a verdict that was not.
        do { try await meanwhile?() } catch { return nil }
        return verdict
    }
}
