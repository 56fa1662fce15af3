package import CountersignWire

/// Why a challenge failed.
package enum FailureReason: String, CaseIterable, Sendable {
    /// The number typed was not the one shown.
    case wrongNumber = "wrong_number"
    /// The last device that could have answered has used up its attempts.
    case tooManyAttempts = "too_many_attempts"
    /// The last device that could have answered was removed, or the one whose approval was held back.
    case deviceRemoved = "device_removed"
    /// The devices that could have answered are suspended, or the one whose approval was held back.
    case deviceSuspended = "device_suspended"
}

/// How a challenge ended.
package enum ChallengeOutcome: Hashable, Sendable {
    /// The user said yes.
    case approved(AnswerMethod, by: EnrollmentID)
    /// The user has typed, where this was started, the six digits that were sent to them.
    case entered
    /// The user said no.
    case denied(by: EnrollmentID)
    /// The user said that somebody else started this.
    case reported(by: EnrollmentID)
    /// It cannot be answered any more.
    case failed(FailureReason)
    /// The client took it back.
    case cancelled
    /// Nobody answered in time.
    case expired

    /// The state by the words of the API.
    ///
    /// Spec: docs/protocol/relying-party.md, *The challenge*.
    package var state: String {
        switch self {
        case .approved, .entered: "approved"
        case .denied, .reported: "denied"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .expired: "expired"
        }
    }

    /// Why, where the state alone does not say.
    ///
    /// Spec: docs/protocol/relying-party.md, *The challenge*; docs/decisions/0010-two-kinds-of-no.md.
    package var reason: String? {
        switch self {
        case .denied: "declined"
        case .reported: "reported"
        case .failed(let reason): reason.rawValue
        case .approved, .entered, .cancelled, .expired: nil
        }
    }

    /// State and reason together.
    package var status: ChallengeStatus { ChallengeStatus(state: state, reason: reason) }

    /// How ``entered`` is called beside the methods that devices answer by.
    package static let enteredMethod = "text_code"

    /// How the user proved to be there, by the words of the API.
    package var method: String? {
        switch self {
        case .approved(let method, _): method.rawValue
        case .entered: Self.enteredMethod
        case .denied, .reported, .failed, .cancelled, .expired: nil
        }
    }

    /// Whose answer decided it.
    package var decidedBy: EnrollmentID? {
        switch self {
        case .approved(_, let enrollment), .denied(let enrollment), .reported(let enrollment): enrollment
        case .entered, .failed, .cancelled, .expired: nil
        }
    }

    var auditKind: AuditEventKind {
        switch self {
        case .approved, .entered: .challengeApproved
        case .denied: .challengeDenied
        case .reported: .challengeReported
        case .failed: .challengeFailed
        case .cancelled: .challengeCancelled
        case .expired: .challengeExpired
        }
    }
}

/// Where a challenge is on its way to exactly one outcome.
package enum ChallengeState: Hashable, Sendable {
    /// Waiting for an answer.
    case pending
    /// Approved on the device. The client sees it as pending until it presents the code that the device brings back.
    case returning(AnswerMethod, by: EnrollmentID)
    /// Over, for ever.
    case ended(ChallengeOutcome, at: Timestamp)

    /// An event that the state does not allow.
    package struct IllegalTransition: Error, Hashable, Sendable {
        /// The state of the challenge.
        package let state: ChallengeState
    }

    /// The state after an outcome at a time.
    ///
    /// - Parameters:
    ///   - outcome: what happened.
    ///   - now: when.
    ///   - expiresAt: when the challenge ends unanswered: from then on it can only expire, and before it cannot.
    package func applying(
        _ outcome: ChallengeOutcome, at now: Timestamp, expiresAt: Timestamp
    ) throws(IllegalTransition) -> ChallengeState {
        switch self {
        case .ended:
            throw IllegalTransition(state: self)
        case .pending, .returning:
            let isOver = now >= expiresAt
            switch outcome {
            case .expired:
                guard isOver else { throw IllegalTransition(state: self) }
            case .cancelled:
                guard !isOver else { throw IllegalTransition(state: self) }
            case .approved(let method, let enrollment):
                guard !isOver, self == .pending || self == .returning(method, by: enrollment) else {
                    throw IllegalTransition(state: self)
                }
            case .failed(.deviceRemoved), .failed(.deviceSuspended):
                guard !isOver else { throw IllegalTransition(state: self) }
            case .entered, .denied, .reported, .failed:
                guard !isOver, self == .pending else { throw IllegalTransition(state: self) }
            }
            return .ended(outcome, at: now)
        }
    }

    /// Whether it is over.
    package var isEnded: Bool {
        if case .ended = self { true } else { false }
    }

    /// The state as the client sees it, by the words of the API.
    package var status: ChallengeStatus {
        switch self {
        case .pending, .returning: ChallengeStatus(state: "pending", reason: nil)
        case .ended(let outcome, _): outcome.status
        }
    }
}
