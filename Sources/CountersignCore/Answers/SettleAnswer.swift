import CountersignWire
import OpenPGP

/// Check 9 of an answer: repeats the conditions and stores the result in one transaction.
///
/// Spec: docs/protocol/challenges.md, *Checks*.
struct SettleAnswer {
    typealias Outcome = AnswerChallenge.Outcome

    /// The challenge.
    let id: ChallengeID
    /// The digest by which a repeat of the answer is recognised.
    let digest: MessageDigest
    /// The answering enrollment, as it was when the answer was verified.
    let enrollment: Enrollment
    /// The transaction.
    let work: UnitOfWork

    /// Stores the result of the earlier checks.
    func settle(_ finding: AnswerChallenge.Finding, of call: DeviceCall) throws -> Outcome {
        if finding.changesDevices { try work.users.lock(enrollment.user) }
        if finding.changesPINCount(of: enrollment) { try work.enrollments.lock(enrollment.id) }
        let refusal = try work.admit(call)
        // A verified wrong PIN is counted even if the call itself is refused.
        if let refusal {
            guard case .judged(_, .wrongPIN) = finding else { return .refused(refusal) }
        }
        let outcome = try settle(finding)
        return refusal.map(Outcome.refused) ?? outcome
    }

    /// Stores the result of the earlier checks for a device that is admitted.
    func settle(_ finding: AnswerChallenge.Finding) throws -> Outcome {
        switch finding {
        case .notFound: return .notFound
        case .repeated(let recorded): return try outcome(of: recorded)
        case .ended(let challenge): return try alreadyEnded(challenge)
        case .judged(let challenge, let verdict):
            switch verdict {
            case .invalid(let fault): return try refuse(because: fault)
            case .pinLocked: return .pinLocked
            case .wrongPIN(let pin): return try count(pin, challenge)
            case .wrongNumber: return try decide(challenge, .failed(.wrongNumber))
            case .verified(let answer): return try accept(answer, to: challenge)
            }
        case .custom: preconditionFailure("a custom authenticator is asked before")
        }
    }

    private func accept(_ answer: VerifiedAnswer, to challenge: Challenge) throws -> Outcome {
        // The device was believed when it was asked, and may be no longer.
        if enrollment.client != challenge.question.client,
            try !work.isBelieved(work.enrollments.find(enrollment.id) ?? enrollment, at: challenge.question.client)
        {
            return try refuse(because: .notConfirmed)
        }
        let outcome: ChallengeOutcome
        switch answer.decision {
        case .approved(let method, _):
            if let refusal = try confirm(method) { return refusal }
            switch challenge.purpose {
            case .relyingParty, .authorization, .ownSignIn: break
            case .newDevice:
                // The group of a client that was deleted meanwhile is not known: then what guards for any counts.
                let group = try work.clients.find(challenge.question.client)?.trustGroup
                if method == .confirm, try work.trustState(of: enrollment.user, in: group).isGuarded() {
                    return try refuse(because: .method)
                }
            }
            outcome = .approved(method, by: enrollment.id)
        case .denied: outcome = .denied(by: enrollment.id)
        case .reported: outcome = .reported(by: enrollment.id)
        }
        return try decide(challenge, outcome, evidence: answer.evidence)
    }

    /// Ends the challenge or holds it for its return code, and stores the receipt and the reply.
    func decide(
        _ challenge: Challenge, _ outcome: ChallengeOutcome, evidence: Evidence? = nil, custom: CustomReply? = nil
    ) throws -> Outcome {
        guard try ends(challenge, as: outcome) else {
            // Another call was faster: another device's answer, a cancellation, or the same answer sent twice at
            // once.
            return try earlier() ?? alreadyEnded(challenge)
        }
        if case .reported = outcome { try lock(because: challenge) }
        if let evidence {
            try work.receipts.insert(
                StoredReceipt(
                    challenge: challenge.id, client: challenge.question.client, enrollment: enrollment.id,
                    evidence: evidence, acceptedAt: work.now))
        }
        try record(outcome.status, custom: custom)
        return .decided(AnswerReply(status: outcome.status, payload: custom?.payload))
    }

    /// Keeps whoever asked what was reported from asking again.
    private func lock(because challenge: Challenge) throws {
        let (user, client) = (enrollment.user, challenge.question.client)
        switch challenge.purpose {
        // Anybody can begin a sign-in, so that its report must not keep the client from asking. But only the client's own
        // server has asked by the backchannel.
        case .authorization(let id):
            // check: BackchannelTests.reported
            guard try work.authorizations.find(id)?.wanted.backchannel == nil else {
                return try putLock(of: user, by: client, because: challenge)
            }
            let third = try work.clients.find(client)?.trustGroup.thirdParty
            _ = try work.count(.reportedSignIns(user, at: third))
        case .ownSignIn: break
        case .relyingParty, .newDevice:
            try putLock(of: user, by: client, because: challenge)
        }
    }

    private func putLock(of user: UserID, by client: ClientID, because challenge: Challenge) throws {
        try work.askingLocks.put(AskingLock(user: user, client: client, challenge: challenge.id, since: work.now))
    }

    /// Decides the challenge by this answer.
    ///
    /// - Returns: false if the challenge was decided before.
    private func ends(_ challenge: Challenge, as outcome: ChallengeOutcome) throws -> Bool {
        if case .approved(let method, _) = outcome, challenge.channel.returnURI != nil {
            return try work.holdForReturn(challenge, approvedBy: method, on: enrollment)
        }
        switch try work.endChallenge(challenge, as: outcome, decidedBy: enrollment) {
        case .ended: return true
        case .alreadyEnded: return false
        }
    }

    /// Checks that the signing key has not been replaced, and resets the count of wrong PINs after a right one.
    ///
    /// - Returns: nil if the answer counts.
    private func confirm(_ method: AnswerMethod) throws -> Outcome? {
        guard method != .confirm else { return nil }
        let current = try work.enrollments.find(enrollment.id)
        guard let name = current?.keyName(of: method), name == enrollment.keyName(of: method),
            current?.waits(method, at: work.now) == false
        else { return try refuse(because: .replaced) }
        guard method == .pin, let pin = current?.pin else { return nil }
        guard pin.lockedAt == nil else { return .pinLocked }
        if pin.wrongCount > 0 { try work.methods.forgetWrongPINs(of: enrollment.id) }
        return nil
    }

    /// Counts a wrong PIN, unless the same answer was counted before.
    private func count(_ pin: EnrolledPIN, _ challenge: Challenge) throws -> Outcome {
        if let earlier = try earlier() { return earlier }
        try work.recordFetch(of: challenge, by: enrollment)
        switch try work.noteWrongPIN(besides: pin.key, of: enrollment) {
        case .counted(let attemptsLeft):
            if let failed = try fail(challenge) { return failed }
            try record(.pinIncorrect)
            return .pinIncorrect(
                attemptsLeft: min(attemptsLeft, try work.stores.triesLeft(of: challenge, at: work.now)))
        case .locked: return .pinLocked
        case .changed: return try refuse(because: .replaced)
        }
    }

    /// Counts a wrong answer if the challenge has a limit of them, and lets the challenge fail at the limit.
    ///
    /// - Returns: the outcome if the challenge has failed now; nil if it stays pending or had ended before.
    func fail(_ challenge: Challenge) throws -> Outcome? {
        guard let attempts = challenge.attempts,
            try work.count(.wrongAnswers(challenge.id, maximum: attempts)).isUsedUp,
            try work.challenges.find(challenge.id)?.isOpen(at: work.now) == true
        else { return nil }
        return try decide(challenge, .failed(.tooManyAttempts))
    }

    /// The outcome of the same answer if it came before; nil otherwise.
    func earlier() throws -> Outcome? {
        try work.answers.find(by: enrollment.id, digest: digest).map(outcome)
    }

    /// Records the outcome of the answer, for the same answer sent again.
    func record(_ status: ChallengeStatus, custom: CustomReply? = nil) throws {
        try work.answers.insert(
            RecordedAnswer(challenge: id, status: status, custom: custom), by: enrollment.id, digest: digest,
            at: work.now)
    }

    private func outcome(of recorded: RecordedAnswer) throws -> Outcome {
        if recorded.status.state != "pending" {
            return .decided(AnswerReply(status: recorded.status, payload: recorded.custom?.payload))
        }
        if let custom = recorded.custom {
            return custom.attemptsLeft > 0 ? .customRetry(custom) : .customFailed(payload: custom.payload)
        }
        let current = try work.enrollments.find(enrollment.id) ?? enrollment
        let attemptsLeft = try work.stores.attemptsLeft(of: current)
        let triesLeft = try work.challenges.find(recorded.challenge).map {
            try work.stores.triesLeft(of: $0, at: work.now)
        }
        return .pinIncorrect(attemptsLeft: min(attemptsLeft, triesLeft ?? .max))
    }

    /// The outcome of an answer that comes after the end of the challenge.
    ///
    /// The challenge is read again, because another answer may have ended it in the meantime.
    private func alreadyEnded(_ challenge: Challenge) throws -> Outcome {
        let current = try work.challenges.find(challenge.id) ?? challenge
        return .alreadyEnded(try work.endedStatusForDevice(of: current) ?? current.state.status)
    }

    /// Records a refused answer by its digest; the message itself is neither stored nor logged.
    func refuse(because fault: AnswerFault) throws -> Outcome {
        if let seconds = try work.countRefused(.answer, of: enrollment.id) {
            return .rateLimited(retryAfter: seconds)
        }
        try work.raise(.answerRefused(id, fault, digest: digest, by: enrollment))
        return .invalid(fault)
    }
}

extension AnswerChallenge.Finding {
    /// Whether the result may let a device in or remove one; the user's row is then locked first.
    fileprivate var changesDevices: Bool {
        switch self {
        case .judged(_, .wrongPIN): true
        case .judged(let challenge, _), .ended(let challenge): challenge.purpose.changesDevices
        case .notFound, .repeated, .custom: false
        }
    }

    /// Whether the result changes the count of wrong PINs.
    fileprivate func changesPINCount(of enrollment: Enrollment) -> Bool {
        switch self {
        case .judged(_, .wrongPIN): true
        case .judged(_, .verified): (enrollment.pin?.wrongCount ?? 0) > 0
        case .judged, .ended, .notFound, .repeated, .custom: false
        }
    }
}

extension ChallengeStatus {
    /// The recorded status after a wrong PIN: the challenge stays pending.
    fileprivate static let pinIncorrect = ChallengeStatus(state: "pending", reason: "pin_incorrect")
}
