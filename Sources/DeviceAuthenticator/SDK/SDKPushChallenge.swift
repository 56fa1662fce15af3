import Countersign
import CountersignWire
import Foundation

/// The vendor's calls on one challenge of the SDK.
final class SDKPushChallenge: CIBAChallengeProtocol {
    private struct State: Sendable {
        /// The user's answer, before anything was asked.
        var action: QuickAction?
        /// The challenge, once it has been fetched.
        var question: OpenedChallenge?
    }

    private typealias Tell = @Sendable (any RemediationStep) -> Void

    private let pending: PendingChallenge
    private let enrollment: SDKEnrollment
    private let prompt: String
    private let state: Locked<State>

    init(_ pending: PendingChallenge, _ question: OpenedChallenge?, for enrollment: SDKEnrollment, prompt: String) {
        self.pending = pending
        self.enrollment = enrollment
        self.prompt = prompt
        state = Locked(State(action: nil, question: question))
    }

    var transactionId: String { "\(pending.id)" }
    var originURL: URL? { enrollment.organization.url }
    var transactionTime: Date { Date(pending.askedAt) }
    var appInstanceName: String? { pending.clientName }
    var clientLocation: String? { state.withLock { $0.question?.context } }
    var clientOS: String? { nil }

    var cibaBindingMessage: String? {
        guard let question = state.withLock({ $0.question }) else { return pending.message }
        var lines = [question.message] + question.details.map { "\($0.label): \($0.value)" }
        if let data = question.signingData { lines.append(data) }
        return lines.joined(separator: "\n")
    }

    var userResponse: PushChallengeUserResponse {
        get {
            switch state.withLock({ $0.action }) {
            case nil: .userNotResponded
            case .approve: .userApproved
            case .deny, .report: .userDenied
            }
        }
        set {
            switch newValue {
            case .userNotResponded: choose(nil)
            case .userApproved: choose(.approve)
            case .userDenied: choose(.deny)
            }
        }
    }

    /// Takes what the user chose on the notification.
    func choose(_ action: QuickAction?) {
        state.withLock { $0.action = action }
    }

    func resolve(
        onRemediation: @escaping @Sendable (any RemediationStep) -> Void,
        onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        run(at: enrollment.organization.url, onCompletion) { [self] in
            guard let question = try await review() else { return }
            try await ask(question, onRemediation)
        }
    }

    /// The challenge that the app must show; nil if the user's choice on the notification has answered it.
    private func review() async throws(CountersignError) -> OpenedChallenge? {
        let question: OpenedChallenge
        if let action = state.withLock({ $0.action }) {
            guard case .needsReview(let unseen) = try await pending.perform(action) else { return nil }
            question = unseen
        } else {
            question = try await pending.open()
        }
        state.withLock { $0 = State(action: nil, question: question) }
        return question
    }

    private func ask(_ question: OpenedChallenge, _ tell: Tell) async throws {
        guard let answer = await consent(tell) else {
            throw DeviceAuthenticatorError.genericError("The app has let go of the step of consent.")
        }
        switch answer {
        case .approved: try await approve(question, tell)
        case .denied, .none: try await question.deny()
        }
    }

    private func consent(_ tell: Tell) async -> UserConsentResponse? {
        let (answers, continuation) = AsyncStream.makeStream(of: UserConsentResponse.self)
        tell(RemediationStepUserConsent(self, enrollment, answers: continuation))
        for await answer in answers { return answer }
        return nil
    }

    private func approve(_ question: OpenedChallenge, _ tell: Tell) async throws {
        var number: String?
        if let length = question.numberLength {
            number = await typed(length, tell)
            guard number != nil else { throw CountersignError.numberRequired(length: length) }
        }
        var failure = CountersignError.methodMissing(question.methods)
        for method in question.methods {
            switch method {
            case .confirm:
                _ = try await question.approve(with: .confirmation, number: number)
                return
            case .biometric:
                do throws(CountersignError) {
                    _ = try await question.approve(with: .biometric(prompt: prompt), number: number)
                    return
                } catch {
                    guard case .biometric(let reason) = error else { throw error }
                    tell(RemediationStepMessage(reason, of: self))
                    // Whoever closes the prompt, or is not recognised, has not approved by a weaker method.
                    guard reason == .notRegistered || reason == .unavailable else { throw error }
                    failure = error
                }
            case .pin, .custom: continue
            }
        }
        throw failure
    }

    private func typed(_ length: Int, _ tell: Tell) async -> String? {
        let (numbers, continuation) = AsyncStream.makeStream(of: String.self)
        tell(RemediationStepNumberEntry(self, length: length, numbers: continuation))
        for await number in numbers { return number }
        return nil
    }
}

extension RemediationStepMessage {
    fileprivate init(_ reason: BiometricFailure, of challenge: any ChallengeProtocol) {
        let error = DeviceAuthenticatorError.securityError(SecurityError(reason))
        let type: RemediationStepMessageReasonType =
            switch reason {
            case .notRegistered, .unavailable: .userVerificationKeyNotEnrolled
            case .cancelled, .fallback: .userVerificationCancelledByUser
            case .changed: .userVerificationKeyCorruptedOrMissing
            case .failed, .lockout: .userVerificationFailed
            }
        self.init(
            messageType: .nonFatalError, reasonType: type, message: "\(CountersignError.biometric(reason))",
            challenge: challenge, error: error)
    }
}

/// A challenge that a push names, and that is for none of this device's enrollments; nothing of it was verified.
final class ForeignChallenge: ChallengeProtocol {
    let transactionId: String
    let originURL: URL? = nil
    let transactionTime = Date(timeIntervalSince1970: 0)
    let appInstanceName: String? = nil

    init(transactionId: String) {
        self.transactionId = transactionId
    }

    func resolve(
        onRemediation: @escaping @Sendable (any RemediationStep) -> Void,
        onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        onCompletion(.storageError(.itemNotFound))
    }
}
