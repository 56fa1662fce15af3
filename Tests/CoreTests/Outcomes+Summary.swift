import CountersignCore
import CountersignWire

/// Refusals and outcomes in words, because their payloads do not compare.
extension DeviceRefusal {
    var summary: String {
        switch self {
        case .proof(let error): "proof \(error)"
        case .unknownEnrollment: "unknown enrollment"
        case .clockSkew(let time): "clock skew \(time.milliseconds)"
        case .nonceReplayed: "nonce replayed"
        case .tooManyReads: "too many reads"
        case .suspended: "suspended"
        case .deregistered(let notice): "deregistered \(notice.enrollment) \(notice.reasonText)"
        }
    }
}

extension VerifyDevice.Outcome {
    var summary: String {
        switch self {
        case .verified: "let in"
        case .refused(let refusal): refusal.summary
        }
    }
}

extension EnrollDevice.Outcome {
    var summary: String {
        switch self {
        case .enrolled(let enrollment, nil): "enrolled \(enrollment.id)"
        case .enrolled(let enrollment, .some): "waiting \(enrollment.id)"
        case .refused(let refusal): refusal.summary
        case .certificateInvalid(let refusal): "certificate \(refusal)"
        case .ticketInvalid: "ticket invalid"
        case .ticketUsed: "ticket used"
        case .ticketExpired: "ticket expired"
        case .alreadyEnrolled: "already enrolled"
        case .tooManyDevices: "too many devices"
        case .blocked: "blocked"
        case .pushTokenInUse: "push token in use"
        }
    }
}

extension ClaimChallenge.Outcome {
    var summary: String {
        switch self {
        case .claimed: "claimed"
        case .refused(let refusal): refusal.summary
        case .codeInvalid: "code invalid"
        case .codeExpired: "code expired"
        case .alreadyClaimed: "already claimed"
        case .alreadyEnded(let status): "already ended \(status.state) \(status.reason ?? "-")"
        case .waiting: "waiting"
        case .userNotLinked: "user not linked"
        case .notConfirmed: "not confirmed"
        case .methodMissing(let methods): "method missing \(methods.map(\.rawValue).joined(separator: " "))"
        case .rateLimited(let seconds): "rate limited \(seconds)"
        }
    }
}

extension ReturnChallenge.Outcome {
    var summary: String {
        switch self {
        case .released(let challenge): "released \(challenge.state.status.state)"
        case .codeInvalid: "code invalid"
        case .alreadyEnded(let status): "already ended \(status.state) \(status.reason ?? "-")"
        case .notFound: "not found"
        case .rateLimited(let seconds): "rate limited \(seconds)"
        }
    }
}

extension AnswerChallenge.Outcome {
    var summary: String {
        switch self {
        case .decided(let reply): "decided \(reply.status.state) \(reply.status.reason ?? "-")"
        case .refused(let refusal): refusal.summary
        case .notFound: "not found"
        case .alreadyEnded(let status): "already ended \(status.state) \(status.reason ?? "-")"
        case .invalid: "invalid"
        case .pinIncorrect(let attemptsLeft): "PIN incorrect, \(attemptsLeft) left"
        case .pinLocked: "PIN locked"
        case .customRetry(let reply): "custom retry, \(reply.attemptsLeft) left: \(reply.payload ?? "-")"
        case .customFailed(let payload): "custom failed: \(payload ?? "-")"
        case .customNotRegistered: "custom not registered"
        case .customUnavailable: "custom unavailable"
        case .rateLimited(let seconds): "rate limited \(seconds)"
        }
    }
}
