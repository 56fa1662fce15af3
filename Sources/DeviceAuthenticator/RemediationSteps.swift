/// Something that is missing of an answer.
public protocol RemediationStep: Sendable {
    /// Goes on without the app.
    func defaultProcess()
}

/// The step that asks the user for consent.
///
/// The first call of its methods counts. If nobody keeps it and it was not answered, nothing is sent.
public final class RemediationStepUserConsent: RemediationStep {
    /// The question, which has been fetched: show all of it.
    public let challenge: any ChallengeProtocol
    /// The enrollment that answers.
    public let enrollment: any AuthenticatorEnrollmentProtocol
    private let answers: AsyncStream<UserConsentResponse>.Continuation

    init(
        _ challenge: any ChallengeProtocol, _ enrollment: any AuthenticatorEnrollmentProtocol,
        answers: AsyncStream<UserConsentResponse>.Continuation
    ) {
        self.challenge = challenge
        self.enrollment = enrollment
        self.answers = answers
    }

    deinit {
        answers.finish()
    }

    /// Takes the user's answer; no answer is a denial.
    public func provide(_ response: UserConsentResponse) {
        answers.yield(response)
        answers.finish()
    }

    /// Denies.
    public func defaultProcess() {
        provide(.none)
    }
}

/// The step that asks for the number that is shown where the user started this, which the vendor does not have.
///
/// The first call of its methods counts. A wrong number ends the question.
public final class RemediationStepNumberEntry: RemediationStep {
    /// The question.
    public let challenge: any ChallengeProtocol
    /// How many digits the number has.
    public let length: Int
    private let numbers: AsyncStream<String>.Continuation

    init(_ challenge: any ChallengeProtocol, length: Int, numbers: AsyncStream<String>.Continuation) {
        self.challenge = challenge
        self.length = length
        self.numbers = numbers
    }

    deinit {
        numbers.finish()
    }

    /// Takes the digits that the user typed.
    ///
    /// Of a text that is no such number nothing is sent, and the attempt ends with an error.
    public func provide(_ number: String) {
        numbers.yield(number)
        numbers.finish()
    }

    /// Sends nothing: the question goes on waiting, and this attempt ends with an error.
    public func defaultProcess() {
        numbers.finish()
    }
}

/// A step that tells something, and needs no answer.
public struct RemediationStepMessage: RemediationStep {
    /// What kind of message it is.
    public let messageType: RemediationStepMessageType
    /// What happened.
    public let reasonType: RemediationStepMessageReasonType
    /// What happened, in an English sentence for a developer.
    public let message: String?
    /// The question.
    public let challenge: (any ChallengeProtocol)?
    /// The error.
    public let error: DeviceAuthenticatorError?

    /// Does nothing.
    public func defaultProcess() {}
}

/// The user's consent.
public enum UserConsentResponse: Int, Sendable {
    /// Yes.
    case approved
    /// No.
    case denied
    /// No answer, which counts as no.
    case none
}

/// The kind of a message.
public enum RemediationStepMessageType: Int, Sendable {
    /// Something to know.
    case information
    /// Something went wrong.
    case nonFatalError
}

/// What a message tells.
public enum RemediationStepMessageReasonType: Int, Sendable {
    /// No biometrics are registered for the enrollment.
    case userVerificationKeyNotEnrolled
    /// The user has closed the prompt for biometrics.
    case userVerificationCancelledByUser
    /// The key that biometrics unlock is lost: the device must be enrolled anew.
    case userVerificationKeyCorruptedOrMissing
    /// The biometric was not recognised.
    case userVerificationFailed
}
