import CountersignWire

/// What came of ending a challenge.
enum ChallengeEnd: Sendable {
    /// It has ended as was wanted: the challenge after it.
    case ended(Challenge)
    /// It has not: it had ended before, or was over and has expired instead.
    case alreadyEnded(ChallengeStatus)

    /// How the challenge has ended.
    var status: ChallengeStatus {
        switch self {
        case .ended(let challenge): challenge.state.status
        case .alreadyEnded(let status): status
        }
    }
}

extension UnitOfWork {
    /// Ends a challenge, with all that follows from it.
    ///
    /// One whose time is over expires instead, whatever came too late for it.
    ///
    /// - Parameters:
    ///   - challenge: the challenge.
    ///   - wanted: how it is to end.
    ///   - enrollment: the device that decides; it has had the challenge by a fetch, or by a poll, which records nothing.
    @discardableResult
    func endChallenge(
        _ challenge: Challenge, as wanted: ChallengeOutcome, decidedBy enrollment: Enrollment? = nil
    ) throws -> ChallengeEnd {
        let outcome = now < challenge.expiresAt ? wanted : .expired
        guard let applied = try? challenge.applying(outcome, at: now),
            try challenges.end(challenge.id, as: outcome, at: now)
        else { return .alreadyEnded(try (challenges.find(challenge.id) ?? challenge).state.status) }
        let ended: Challenge
        switch challenge.channel {
        case .devices, .text: ended = applied
        case .code(_, let returnURI):
            // A device may have presented its code, or approved it, since it was read.
            ended = try challenges.find(challenge.id) ?? applied
            // What a device had approved, and did not bring back in time.
            if returnURI != nil, outcome.method == nil { try receipts.delete(of: challenge.id) }
        }
        if outcome == wanted, let enrollment { try recordFetch(of: challenge, by: enrollment) }
        try raise(.challengeEnded(ended, outcome, decidedBy: enrollment))
        return outcome == wanted ? .ended(ended) : .alreadyEnded(ended.state.status)
    }

    /// Records that a device has the challenge, unless that was recorded before.
    func recordFetch(of challenge: Challenge, by enrollment: Enrollment) throws {
        guard try targets.recordFetch(of: challenge.id, by: enrollment.id, at: now) else { return }
        try raise(.challengeFetched(challenge, by: enrollment))
    }

    /// How a challenge has ended, as its client sees it; nil while it is open.
    ///
    /// One whose time is over is ended first, if nobody has done so: a server whose clock is behind could otherwise still
    /// accept an answer to it.
    func endedStatus(of challenge: Challenge) throws -> ChallengeStatus? {
        if challenge.state.isEnded { return challenge.state.status }
        guard now >= challenge.expiresAt else { return nil }
        return try endChallenge(challenge, as: .expired).status
    }

    /// How a challenge has ended, as a device sees it: the device knows of its approval before the client does.
    func endedStatusForDevice(of challenge: Challenge) throws -> ChallengeStatus? {
        if let status = try endedStatus(of: challenge) { return status }
        guard case .returning(let method, let enrollment) = challenge.state else { return nil }
        return ChallengeOutcome.approved(method, by: enrollment).status
    }
}
