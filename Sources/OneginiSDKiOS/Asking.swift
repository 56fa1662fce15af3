import Countersign
import CountersignWire
import Foundation

/// The delegate of one call: what the person is asked, in the form of challenges.
@MainActor
final class Asking {
    private let profile: any UserProfile
    /// The domain of the call's errors.
    private let domain: String
    /// When an answer is of no use any more; nil for never.
    private let end: ContinuousClock.Instant?
    private let authenticator: (Method) -> Authenticator
    private let pin: (any PinChallenge) -> Void
    private let biometric: (any BiometricChallenge) -> Void
    private let custom: (any CustomAuthFinishAuthenticationChallenge) -> Void
    /// By what the person was asked last; nil if they were not asked for an authenticator.
    private(set) var method: Method?

    init(
        _ profile: any UserProfile, in domain: String, until end: ContinuousClock.Instant? = nil,
        authenticator: @escaping (Method) -> Authenticator, pin: @escaping (any PinChallenge) -> Void,
        biometric: @escaping (any BiometricChallenge) -> Void = { _ in },
        custom: @escaping (any CustomAuthFinishAuthenticationChallenge) -> Void = { _ in }
    ) {
        self.profile = profile
        self.domain = domain
        self.end = end
        self.authenticator = authenticator
        self.pin = pin
        self.biometric = biometric
        self.custom = custom
    }

    /// The authenticator that was asked for last.
    var lastAuthenticator: Authenticator? { method.map(authenticator) }

    /// Asks for a proof until it is taken: by a method, and by the PIN when that fails or the person wants it.
    ///
    /// - Parameters:
    ///   - first: the method.
    ///   - mayUsePIN: whether the PIN is taken as well.
    ///   - enrollment: whose PIN.
    ///   - use: takes a proof, or throws why it does not.
    func prove<Result: Sendable>(
        by first: Method, orByPIN mayUsePIN: Bool, of enrollment: Enrollment,
        _ use: @MainActor (Proof) async throws -> Result
    ) async throws -> Result {
        method = first
        var error: (any Error)?
        switch first {
        case .pin: break
        case .biometric:
            guard let prompt = try await text({ self.biometric(BiometricQuestion(self.profile, self.current, $0)) })
            else { break }
            do {
                return try await use(.biometric(prompt: prompt))
            } catch CountersignError.biometric(let failure) where failure != .cancelled && mayUsePIN {
                if failure != .fallback { error = translated(CountersignError.biometric(failure), in: domain) }
            }
        case .custom(let name):
            switch try await proveCustom(name, mayUsePIN, use) {
            case .success(let result): return result
            case .failure(let reason): error = reason.error
            }
        }
        guard mayUsePIN else { throw Refused.authentication(.authenticatorInvalid) }
        return try await provePIN(of: enrollment, after: error, use)
    }

    /// Why the PIN is asked for instead; nil if the person wants it.
    private struct PINInstead: Error {
        let error: (any Error)?
    }

    private func proveCustom<Result: Sendable>(
        _ name: String, _ mayUsePIN: Bool, _ use: @MainActor (Proof) async throws -> Result
    ) async throws -> Swift.Result<Result, PINInstead> {
        var error: (any Error)?
        while true {
            let reason = error
            guard let data = try await text({ self.custom(CustomQuestion(self.profile, self.current, reason, $0)) })
            else { return .failure(PINInstead(error: nil)) }
            do {
                return .success(try await use(.custom(name, data: data)))
            } catch let failure as CountersignError {
                error = translated(failure, in: domain, failure.customInfo)
                switch failure {
                case .customRetry: continue
                case .customFailed, .customNotRegistered, .customUnavailable:
                    guard mayUsePIN else { throw failure }
                    return .failure(PINInstead(error: error))
                default: throw failure
                }
            }
        }
    }

    /// Asks for the PIN until it is taken.
    func provePIN<Result: Sendable>(
        of enrollment: Enrollment, _ use: @MainActor (PIN) async throws -> Result
    ) async throws -> Result {
        try await provePIN(of: enrollment, after: nil) { proof in
            guard case .pin(let pin) = proof else { throw Refused.cancelled }
            return try await use(pin)
        }
    }

    private func provePIN<Result: Sendable>(
        of enrollment: Enrollment, after first: (any Error)?, _ use: @MainActor (Proof) async throws -> Result
    ) async throws -> Result {
        method = .pin
        let known = try await enrollment.methods()
        switch known.pin {
        case .none: throw CountersignError.pinNotSet
        case .locked: throw CountersignError.pinLocked
        case .set: break
        }
        var attempts = Attempts(maximum: known.pinPolicy.attempts, left: known.attemptsLeft)
        var error = first
        while true {
            let (left, reason) = (attempts, error)
            guard let typed = try await text({ self.pin(PinQuestion(self.profile, self.current, left, reason, $0)) })
            else { throw Refused.cancelled }
            if let pin = try? PIN(typed) {
                do {
                    return try await use(.pin(pin))
                } catch CountersignError.pinIncorrect(let attemptsLeft) where attemptsLeft > 0 {
                    attempts.left = attemptsLeft
                } catch CountersignError.pinIncorrect {
                    // It was the last try. If the device is removed by that, the next reply says so.
                    try await enrollment.refresh()
                    throw CountersignError.pinLocked
                }
            } else {
                // It can be nobody's PIN, so the server does not count it; an app that goes on by itself ends all the same.
                attempts.left -= 1
            }
            let wrong = CountersignError.pinIncorrect(attemptsLeft: attempts.left)
            guard attempts.left > 0 else { throw wrong }
            error = translated(wrong, in: domain)
        }
    }

    /// The authenticator that is asked for.
    private var current: Authenticator { authenticator(method ?? .pin) }

    /// The text that the app answers with; nil for the wish to use the PIN instead.
    func text(_ ask: @MainActor (Answer<Response>) -> Void) async throws -> String? {
        switch await firstAnswer(within: end.map { ContinuousClock.now.duration(to: $0) }, ask) {
        case .given(.text(let text)): return text
        case .given(.pinInstead): return nil
        case .given(.cancelled): throw Refused.cancelled
        case .dropped:
            throw domain == ErrorDomains.mobileAuthRequest ? Refused.request(.notHandleable) : Refused.cancelled
        case .late: throw Refused.request(.notFound)
        }
    }
}
