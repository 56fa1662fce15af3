package import CountersignCore
package import CountersignWire
import Synchronization
import Encodings

/// The providers of captchas `turnstile` and `other`, which say what a test sets.
package final class ScriptedCaptchas: Captchas {
    private struct State {
        var verdicts: [String: CaptchaVerdict] = [:]
        var asked: [String] = []
        var meanwhile: (@Sendable () async throws -> Void)?
    }

    package let names = Set(["turnstile", "other"].compactMap { CaptchaName($0) })
    private let state = Mutex(State())

    package init() {}

    /// The tokens that providers were asked about, in order.
    package var asked: [String] { state.withLock { $0.asked } }

    /// Sets what is said of a token; every other one was given for a solved captcha.
    package func say(_ verdict: CaptchaVerdict, of token: String) {
        state.withLock { $0.verdicts[token] = verdict }
    }

    /// Runs a body while the next provider is being asked.
    package func meanwhile(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.meanwhile = body }
    }

    package func verify(_ token: CaptchaToken, by name: CaptchaName) async -> CaptchaVerdict {
        let (verdict, meanwhile) = state.withLock { state in
            state.asked.append(token.text.reveal())
            defer { state.meanwhile = nil }
            return (state.verdicts[token.text.reveal()] ?? .solved, state.meanwhile)
        }
        // A failure here shows in the test as a provider that cannot be asked.
        do { try await meanwhile?() } catch { return .unavailable("\(error)") }
        return names.contains(name) ? verdict : .unavailable("there is no such provider")
    }
}
